// How long a page takes to its first picture, and to draw a frame: `tests/viewer/run --speed PAGE...`. Times are the least of
// 25 frames in which the eye turns, read back from the canvas, so that they count what was drawn.
import { resolve } from 'node:path';
import { Browser } from './browser.mjs';

const TURN = `new Promise((done) => {
  const canvas = document.getElementById('scene'), gl = canvas.getContext('webgl2'), pixel = new Uint8Array(4);
  let best = Infinity, last = performance.now(), count = 0;
  const turn = () => {
    document.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', shiftKey: true }));
    requestAnimationFrame(() => {
      gl.readPixels(0, 0, 1, 1, gl.RGBA, gl.UNSIGNED_BYTE, pixel);
      const now = performance.now();
      best = Math.min(best, now - last);
      last = now;
      if (++count < 25) turn();
      else done(best);
    });
  };
  turn();
})`;

const browser = await Browser.open();
for (const path of process.argv.slice(3)) {
  const page = await browser.context.newPage(), start = performance.now();
  await page.setViewportSize({ width: 1280, height: 1048 }); // the scene takes 1280 × 650 of it
  await page.goto(`file://${resolve(process.env.START || '.', path)}`, { waitUntil: 'commit' });
  await page.waitForSelector('#scene[data-painted]');
  const first = performance.now() - start, tools = await browser.context.newCDPSession(page);
  const time = async () => (await tools.send('Runtime.evaluate', { expression: TURN, awaitPromise: true, returnByValue: true })).result.value;
  await page.locator('#scene').press('End');
  await page.waitForTimeout(1500);
  const bare = await time();
  await page.locator('#chains').check();
  console.log(`${path}: first picture ${(first / 1000).toFixed(2)} s; a frame ${bare.toFixed(0)} ms, with chains ${(await time()).toFixed(0)} ms`);
  await page.close();
}
await browser.close();
