import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** The styles on which the contrast of a text depends, of its element and of all elements around it. */
const STYLES =
  'color background-color background-image background-clip opacity filter mix-blend-mode font-size font-weight ' +
  'text-shadow -webkit-text-stroke position overflow clip-path visibility display pointer-events z-index float';

/**
 * The elements with text, one of each look: rows of a table look the same, and so do their contrasts. Two elements have
 * the same look when they and all elements around them have the same names, states, classes and styles.
 */
const LOOKS = `(() => {
  const numbers = new Map();
  const kept = new Map();
  const visit = (element, around) => {
    const styles = getComputedStyle(element);
    const states = [element.disabled, element.getAttribute('aria-disabled'), element.getAttribute('aria-hidden')];
    const own = ${JSON.stringify(STYLES.split(' '))}.map((name) => styles.getPropertyValue(name));
    const look = [around, element.tagName, element.className, ...states, ...own].join('|');
    if (!numbers.has(look)) numbers.set(look, numbers.size);
    const number = numbers.get(look);
    const text = [...element.childNodes].filter(({ nodeType }) => nodeType === 3).map(({ data }) => data.trim()).join('');
    // axe does not decide on a single character, nor on one that is no letter.
    const kind = [number, text.length > 1, /^[ -~]+$/.test(text)].join(' ');
    if (text !== '' && element.checkVisibility() && !kept.has(kind)) kept.set(kind, element);
    for (const child of element.children) visit(child, number);
  };
  visit(document.body, '');
  return [...kept.values()];
})()`;

/** Finds the violations in a page or some of its elements, each with its element. */
async function violationsOf(page: Page, context: string, wanted: object): Promise<string[]> {
  if (!(await page.evaluate('typeof axe === "object"'))) await page.evaluate(AXE);
  // The findings show the text of an element, so its selector is not wanted.
  const options = { resultTypes: ['violations'], selectors: false, ...wanted };
  return page.evaluate(`axe.run(${context}, ${JSON.stringify(options)}).then(({ violations }) =>
    violations.flatMap(({ id, nodes }) => nodes.map(({ html, failureSummary }) =>
      id + ': ' + html.slice(0, 200) + ' ' + failureSummary)))`);
}

/** The violations that axe-core finds on a page. */
export const findViolations = (page: Page): Promise<string[]> => violationsOf(page, 'document', {});

/**
 * The texts of a page whose contrast is too low, one of each look. It is for the other colours of a page that
 * `findViolations` has looked at whole, and takes less than half of the time that axe-core needs for all texts.
 */
export const findLowContrast = (page: Page): Promise<string[]> =>
  violationsOf(page, `{ include: ${LOOKS} }`, { runOnly: ['color-contrast'] });
