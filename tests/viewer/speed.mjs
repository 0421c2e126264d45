// How long a page takes to its first picture, and to draw a frame: `tests/viewer/run --speed PAGE...`. Times are the least of
// 25 frames in which the eye turns, read back from the canvas, so that they count what was drawn; processor times are the
// mean of all processes of the browser, which other work on the machine touches less.
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

/** Seconds of the processor that all processes of the browser took so far. */
async function spent(session) {
  const { processInfo } = await session.send('SystemInfo.getProcessInfo');
  return processInfo.reduce((sum, one) => sum + one.cpuTime, 0);
}

/** What the page has unpacked after every frame was looked at. */
async function unpacked(page) {
  await page.locator('#scene').press('Home');
  await page.locator('#plot').selectOption({ index: 0 });
  const count = Number(await page.locator('#frame').getAttribute('max')) + 1;
  let most = 0;
  for (let frame = 0; frame < count; frame += 8) {
    await page.locator('#frame').fill(String(frame));
    await page.waitForTimeout(60);
    most = Math.max(most, Number(await page.locator('#scene').getAttribute('data-unpacked')));
  }
  return `${Math.round(most / 1e6)} MB unpacked`;
}

const browser = await Browser.open(), session = await browser.browser.newBrowserCDPSession();
for (const path of process.argv.slice(3)) {
  const page = await browser.context.newPage(), start = performance.now();
  await page.setViewportSize({ width: 1280, height: 1048 }); // the scene takes 1280 × 650 of it
  await page.goto(`file://${resolve(process.env.START || '.', path)}`, { waitUntil: 'commit' });
  await page.waitForSelector('#scene[data-painted]');
  const first = performance.now() - start, tools = await browser.context.newCDPSession(page);
  const time = async () => {
    const before = await spent(session), least = (await tools.send('Runtime.evaluate', { expression: TURN, awaitPromise: true, returnByValue: true })).result.value;
    return `${least.toFixed(0)} ms (processor ${(1000 * (await spent(session) - before) / 25).toFixed(0)} ms)`;
  };
  await page.locator('#scene').press('End');
  await page.waitForTimeout(1500);
  const bare = await time();
  await page.locator('#chains').check();
  console.log(`${path}: first picture ${(first / 1000).toFixed(2)} s; a frame ${bare}, with chains ${await time()}; ${await unpacked(page)}`);
  await page.close();
}
await browser.close();
