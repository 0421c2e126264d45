# Every command in README.md and docs/ does what the page says.
exec "$DLS_SOURCE_DIR/tools/check_docs" run --program "$DELASSUS"
