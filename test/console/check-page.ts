import type { Test } from 'tap';
import type { Watched } from './browser.ts';

export const DESK = { width: 1280, height: 800 };
/** The width that a window of 1280 pixels shows at 200 %. */
const ZOOMED = { width: 640, height: 400 };
const PHONE = { width: 390, height: 800 };

/** Checks a page for faults that any page could have. */
export async function checkPage(t: Test, watched: Watched, name: string): Promise<void> {
  const { page } = watched;
  await page.setViewportSize(DESK);
  await watched.settled();
  t.same(await watched.spilling(), [], `${name}: everything is inside of its card`);
  t.same(await watched.broken(), [], `${name}: short words are whole`);
  t.same(await watched.axe(), [], `${name}: nobody is kept out`);
  await page.emulateMedia({ colorScheme: 'dark' });
  t.same(await watched.lowContrast(), [], `${name}: in the dark, too`);
  await page.emulateMedia({ colorScheme: 'light' });
  t.equal(await page.evaluate('document.getAnimations().length'), 0, `${name}: nothing moves for who wants no motion`);
  await page.setViewportSize(ZOOMED);
  t.same(await watched.overflow(), [], `${name}: at 200 % nothing is cut off`);
  await page.setViewportSize(PHONE);
  t.same(await watched.overflow(), [], `${name}: on a phone nothing is cut off`);
  t.same(await watched.spilling(), [], `${name}: on a phone everything is inside of its card`);
  t.same(await watched.broken(), [], `${name}: on a phone short words are whole, too`);
  t.same(await watched.small(), [], `${name}: a finger meets each link`);
  t.same(await watched.markup(), { owned: false, scripts: 1, others: [], links: [] }, `${name}: text is text`);
  t.ok((await page.screenshot()).length > 8_000, `${name}: something is seen`);
  t.same(watched.faults.splice(0), [], `${name}: nothing is wrong`);
}
