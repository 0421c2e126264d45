// A browser without a screen, pages that may not complain, and what can be said of pictures.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

const { chromium } = createRequire(process.env.VIEWER_MODULES)('playwright-core');

/** Runs the program; a run may end with steps that are not certified. */
export function delassus(...words) {
  try {
    return execFileSync(process.env.DELASSUS, words.map(String), { encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  } catch (error) {
    if (error.status === 1) return error.stdout;
    throw error;
  }
}

/** A table of an export: rows by name of column. */
export function table(path) {
  const [head, ...rows] = readFileSync(path, 'utf8').trim().split('\n').map((line) => line.split(','));
  const names = head.map((name) => name.split(' ')[0]);
  return rows.map((row) => Object.fromEntries(row.map((value, k) => [names[k], value])));
}

export class Browser {
  static async open() {
    const it = new Browser();
    it.browser = await chromium.launch({ executablePath: process.env.CHROMIUM || '/usr/bin/chromium',
      args: ['--no-sandbox', '--use-angle=swiftshader', '--enable-unsafe-swiftshader', '--ignore-gpu-blocklist'] });
    it.context = await it.browser.newContext({ viewport: { width: 900, height: 700 }, acceptDownloads: true, colorScheme: 'light' });
    it.desk = await it.context.newPage(); // has no policy: pictures are judged there
    return it;
  }

  close() { return this.browser.close(); }

  /** Opens a page of the viewer; `complaints` gathers what the browser has against it. */
  async page(path, hash = '', prepare = async () => {}) {
    const page = await this.context.newPage();
    page.complaints = [];
    page.on('console', (m) => { if (['error', 'warning'].includes(m.type()) && !/GPU stall|swiftshader/i.test(m.text())) page.complaints.push(m.text()); });
    page.on('pageerror', (e) => page.complaints.push(e.message));
    page.on('dialog', (d) => { page.complaints.push(`dialog: ${d.message()}`); void d.dismiss(); });
    page.on('request', (r) => { if (!/^(file|blob|data):/.test(r.url())) page.complaints.push(`request: ${r.url()}`); });
    await prepare(page);
    await page.goto(`file://${resolve(path)}${hash}`);
    await page.waitForSelector('html[data-ready], #problem:not([hidden]):has-text("cannot be shown")');
    return page;
  }

  /** The scene once it was painted again, or stays as it is. */
  async picture(page) {
    await page.waitForTimeout(120);
    return page.locator('#scene').screenshot();
  }

  /** Red, green and blue of some places, from the middle of the picture. */
  async colours(picture, places) {
    return this.desk.evaluate(async ([text, wanted]) => {
      const image = new Image();
      image.src = `data:image/png;base64,${text}`;
      await image.decode();
      const canvas = document.createElement('canvas');
      canvas.width = image.width;
      canvas.height = image.height;
      const g = canvas.getContext('2d');
      g.drawImage(image, 0, 0);
      return wanted.map(([x, y]) => [...g.getImageData(Math.round(image.width / 2 + x), Math.round(image.height / 2 + y), 1, 1).data.slice(0, 3)]);
    }, [picture.toString('base64'), places]);
  }

  /** Mean difference of two pictures in parts of 255, a row or column at the rim aside, and how many pixels of the second
   * are of a colour. */
  async judge(first, second, colour = [0, 0, 0]) {
    return this.desk.evaluate(async ([a, b, wanted]) => {
      const pixels = async (text) => {
        const image = new Image();
        image.src = `data:image/png;base64,${text}`;
        await image.decode();
        const canvas = document.createElement('canvas');
        canvas.width = image.width;
        canvas.height = image.height;
        const g = canvas.getContext('2d');
        g.drawImage(image, 0, 0);
        return { size: [image.width, image.height], data: g.getImageData(0, 0, image.width, image.height).data };
      };
      const p = await pixels(a), q = await pixels(b), alike = [0, 1].every((k) => Math.abs(p.size[k] - q.size[k]) < 3);
      const width = Math.min(p.size[0], q.size[0]), height = Math.min(p.size[1], q.size[1]);
      let sum = 0, near = 0;
      for (let y = 0; y < height; y++)
        for (let x = 0; x < width; x++) {
          const i = 4 * (y * p.size[0] + x), k = 4 * (y * q.size[0] + x);
          for (let c = 0; c < 3; c++) sum += Math.abs(p.data[i + c] - q.data[k + c]);
          near += Number([0, 1, 2].every((c) => Math.abs(q.data[k + c] - wanted[c]) < 40));
        }
      return { size: q.size, difference: alike ? sum / (3 * width * height) : 255, near };
    }, [first.toString('base64'), second.toString('base64'), colour]);
  }
}
