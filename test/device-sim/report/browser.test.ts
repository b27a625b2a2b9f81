import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { reportPage } from '@lapel/device-sim/report/page';
import { chromium } from 'playwright-core';
import t from 'tap';
import { CHROMIUM, missing } from '../../installed.ts';
import { recordOf } from './record-of.ts';

const skip = missing.browser();

t.test(
  'the page of a report fits the window, loads nothing from elsewhere, and has a dark form',
  { skip },
  async (t) => {
    const file = join(t.testdir(), 'report.html');
    writeFileSync(file, reportPage(recordOf()));
    // Without the browser's own sandbox, which root cannot have: the page is ours.
    const browser = await chromium.launch({ executablePath: String(CHROMIUM), args: ['--no-sandbox'] });
    t.teardown(() => browser.close());
    for (const width of [1280, 360]) {
      for (const colorScheme of ['light', 'dark'] as const) {
        const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
        const asked: string[] = [];
        page.on('request', (request) => asked.push(request.url()));
        await page.goto(pathToFileURL(file).href);
        t.strictSame(asked, [pathToFileURL(file).href]);
        t.equal(await page.evaluate('document.documentElement.scrollWidth'), width, `${width} wide`);
        const [brightness = 0] = (await page.evaluate<string>('getComputedStyle(document.body).backgroundColor'))
          .match(/\d+/g)!
          .map(Number);
        t.equal(brightness > 128, colorScheme === 'light', colorScheme);
        await page.close();
      }
    }
  },
);
