// A page's own picture, as its button PNG saves it: `tests/viewer/run --picture PAGE LINK OUT.png [WIDTH]`, LINK as the
// page's button link writes it behind #.
import { resolve } from 'node:path';
import { Browser } from './browser.mjs';

const [path, link, out, width = '900'] = process.argv.slice(3), from = (name) => resolve(process.env.START || '.', name);
const browser = await Browser.open(), page = await browser.page(from(path), `#${link}`, (p) => p.setViewportSize({ width: Number(width), height: 700 }));
await page.waitForTimeout(300);
const [download] = await Promise.all([page.waitForEvent('download'), page.locator('#png').click()]);
await download.saveAs(from(out));
await browser.close();
