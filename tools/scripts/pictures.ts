// npm run generate -- pictures: makes the pictures of the README from the running product, so that they stay true:
// docs/pictures/demo.svg from the output of the demo, and docs/pictures/rollout.png from the console, after a scenario with
// a bad release.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { chromium } from 'playwright-core';
import { CHROMIUM, missing } from '../../test/installed.ts';
import { terminalPicture } from './pictures/terminal.ts';
import { ROOT } from './release/lockfile.ts';
import { trialFolder } from './trial/folder.ts';
import { environmentOf, run, start } from './trial/programs.ts';

/** The steps of the demo that are shown. */
const SHOWN = [5, 6, 7];
const PAGE = { width: 1180, height: 700 };

const folder = trialFolder('pictures', 10 * 60_000);
const place = { env: environmentOf(folder, join(ROOT, 'node_modules/.bin')), cwd: ROOT };
const node = process.execPath;

async function drawDemo(): Promise<void> {
  const { stdout } = await run([node, 'src/main.ts', 'demo', '--once'], place);
  const parts = stdout.trim().split(/\n\n/);
  const steps = parts.filter((part) => SHOWN.includes(Number.parseInt(part, 10)));
  const text = [parts[0], ...steps, parts.at(-1)].join('\n\n');
  writeFileSync(join(ROOT, 'docs/pictures/demo.svg'), terminalPicture('npm run demo', text));
}

async function drawRollout(): Promise<void> {
  const data = join(folder, 'data');
  const ports = ['http', 'admin', 'mqtt', 'objects'].flatMap((name) => [`--${name}-port`, '0']);
  await using service = start(
    [node, 'src/main.ts', 'serve', '--data-dir', data, ...ports, '--webhook-allow-private', 'true'],
    place,
  );
  const [line] = await service.said(/\{"msg":"listening".*\}/);
  const { http, admin, mqtt } = JSON.parse(line) as Record<'http' | 'admin' | 'mqtt', string>;
  const at = ['--api', http, '--admin', admin, '--mqtt', mqtt, '--data-dir', data];
  await run([node, 'device-sim/main.ts', 'run', 'canary', '--count', '400', '--faster', '6', ...at], place);
  if (CHROMIUM === undefined) throw new Error(String(missing.browser()));
  const browser = await chromium.launch({ executablePath: CHROMIUM, args: ['--no-sandbox'] });
  try {
    const page = await browser.newPage({ viewport: PAGE, deviceScaleFactor: 1.5, colorScheme: 'light' });
    await page.goto(`${admin}/console`);
    await page.getByLabel('Administrator token').fill(readFileSync(join(data, 'admin-token'), 'utf8').trim());
    await page.keyboard.press('Enter');
    await page.getByRole('link', { name: 'Rollouts' }).first().click();
    await page.locator('table a', { hasText: 'Camera 2.0.0' }).first().click();
    await page.getByText('the abort rule has paused it').waitFor();
    await page.getByText('not begun').first().waitFor();
    await page.screenshot({ path: join(ROOT, 'docs/pictures/rollout.png') });
  } finally {
    await browser.close();
  }
}

await drawDemo();
await drawRollout();
