import { type Browser, type BrowserContextOptions, chromium } from 'playwright-core';
import type { Test } from 'tap';
import { findLowContrast, findViolations } from '../accessibility.ts';
import { CHROMIUM, missing } from '../installed.ts';

export const NO_BROWSER = missing.browser();

/** One browser for all tests of a file. Its own sandbox is off, because root cannot have it; the pages are our own. */
export async function openBrowser(t: Test): Promise<Browser> {
  const browser = await chromium.launch({ executablePath: String(CHROMIUM), args: ['--no-sandbox'] });
  t.teardown(() => browser.close());
  return browser;
}

/** The name of an element, for the reader of a failure. */
const NAME = `(one) => [one.tagName, one.id, one.name, one.getAttribute('href'), (one.getAttribute('aria-label') ?? one.innerText ?? '').slice(0, 40)].join(' ')`;

/**
 * Milliseconds that a browser may take for a step: many, because a machine may be busy. Fewer than those of silence after
 * which a page takes its stream for lost: so a change that only a new stream would show fails its test.
 */
export const LONGEST_STEP = 24_000;
/** Milliseconds that a browser may take to load a page. The first one is slow on a busy machine, and waits for no stream. */
const LONGEST_LOAD = 90_000;

export type Watched = Awaited<ReturnType<typeof openPage>>;

/**
 * A separate page, with a list of its `faults`: errors and warnings in its log, violations of its policy, requests to
 * other servers, and answers that are errors. A test removes the faults that it expects.
 */
export async function openPage(browser: Browser, base: string, options: BrowserContextOptions = {}) {
  const context = await browser.newContext({
    baseURL: base,
    colorScheme: 'light',
    reducedMotion: 'reduce',
    timezoneId: 'Europe/Berlin',
    ...options,
  });
  const page = await context.newPage();
  page.setDefaultTimeout(LONGEST_STEP);
  page.setDefaultNavigationTimeout(LONGEST_LOAD);
  const faults: string[] = [];
  const allowed = [`${base}/`, 'data:', 'blob:'];
  page.on('console', (message) => {
    if (['error', 'warning'].includes(message.type())) faults.push(`console: ${message.text()}`);
  });
  page.on('pageerror', (error) => faults.push(`script: ${error.message}`));
  page.on('dialog', (dialog) => {
    faults.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on('request', (request) => {
    if (!allowed.some((start) => request.url().startsWith(start))) faults.push(`asks ${request.url()}`);
  });
  page.on('response', (response) => {
    if (response.status() >= 400) faults.push(`${response.status()} ${response.request().method()} ${response.url()}`);
  });
  await page.exposeFunction('onViolation', (what: string) => faults.push(`policy: ${what}`));
  await page.addInitScript(
    `addEventListener('securitypolicyviolation', (event) => onViolation(event.violatedDirective + ' ' + event.blockedURI))`,
  );

  /**
   * By how many pixels a page is wider than the window, and the elements that cause it. Plots follow a new width in the
   * next frame, and are measured in the one after it.
   */
  const overflow = (): Promise<string[]> =>
    page.evaluate(`(async () => {
      for (const _ of [1, 2]) await new Promise((drawn) => requestAnimationFrame(drawn));
      const wide = document.documentElement.scrollWidth - innerWidth;
      if (wide <= 0) return [];
      const parts = [...document.querySelectorAll('body *')].filter((one) => one.getBoundingClientRect().right > innerWidth + 1);
      return [wide + 'px', ...parts.slice(0, 5).map((one) => one.outerHTML.slice(0, 120))];
    })()`);

  /**
   * The cards, and the names of facts, whose content is wider than they are, and the names of columns that reach into the
   * values beside them on a phone.
   */
  const spilling = (): Promise<string[]> =>
    page.evaluate(`(() => {
      const pen = document.createElement('canvas').getContext('2d');
      const labels = [...document.querySelectorAll('td[data-label]')].filter((one) => {
        const { position, display, font } = getComputedStyle(one, '::before');
        pen.font = font;
        return position === 'absolute' && display !== 'none' && pen.measureText(one.dataset.label).width > parseFloat(getComputedStyle(one).paddingLeft);
      });
      return [...new Set(labels.map((one) => one.dataset.label))].concat([...document.querySelectorAll('.card, .facts dt')].filter((one) => one.scrollWidth > one.clientWidth + 1)
      .map((one) => (one.getAttribute('aria-label') ?? one.innerText) + ' ' + (one.scrollWidth - one.clientWidth) + 'px'));
    })()`);

  /**
   * Links, buttons and ticks of rows that are lower than 24 pixels, which a finger misses; those in running text are as
   * high as its lines. A number that is the link of a cell, and a button that copies, are not narrower either.
   */
  const small = (): Promise<string[]> =>
    page.evaluate(`[...document.querySelectorAll(':is(#page, .top) :is(a[href], button, summary), .table input[type=checkbox]')]
      .filter((one) => one.checkVisibility() && (one.getBoundingClientRect().height < 24 || (one.matches('td > a:only-child, .copy') && one.getBoundingClientRect().width < 24)))
      .filter((one) => ![...(one.closest('.id, .named') ?? one).parentElement.childNodes].some((beside) => beside.nodeType === 3 && beside.data.trim() !== ''))
      .map((one) => [one.getBoundingClientRect().width, one.getBoundingClientRect().height].map((size) => size.toFixed(1)).join(' x ') + 'px ' + (${NAME})(one) + ' in ' + one.parentElement.className)`);

  /** Words of up to twelve characters that are broken over two lines. */
  const broken = (): Promise<string[]> =>
    page.evaluate(`(() => {
      const found = [];
      const texts = document.createTreeWalker(document.getElementById('page'), NodeFilter.SHOW_TEXT);
      const range = document.createRange();
      for (let text = texts.nextNode(); text; text = texts.nextNode()) {
        if (!text.parentElement.checkVisibility() || text.parentElement.closest('pre, textarea, .unseen')) continue;
        for (const { 0: word, index } of text.data.matchAll(/(?<!\\S)[\\w.]{2,12}(?!\\S)/g)) {
          range.setStart(text, index);
          range.setEnd(text, index + word.length);
          const tops = [...range.getClientRects()].map(({ top }) => Math.round(top));
          if (tops.some((top) => top > tops[0] + 4)) found.push(word + ' in ' + text.data.trim().slice(0, 60));
        }
      }
      return found;
    })()`);

  return {
    page,
    context,
    faults,
    small,
    broken,
    /** Another server that the page may use: the object store. */
    allow: (url: string): void => void allowed.push(`${url}/`),
    /**
     * Removes the faults that match the pattern, because the test expects them. Returns whether there were any.
     */
    expected(pattern: RegExp): boolean {
      const rest = faults.filter((fault) => !pattern.test(fault));
      const found = rest.length < faults.length;
      faults.splice(0, faults.length, ...rest);
      return found;
    },
    axe: (): Promise<string[]> => findViolations(page),
    lowContrast: (): Promise<string[]> => findLowContrast(page),
    overflow,
    spilling,

    /** The traces of hostile text: no script may run, no element may appear, and links may lead to pages only. */
    markup: (): Promise<object> =>
      page.evaluate(`({
        owned: window.owned !== undefined,
        scripts: document.scripts.length,
        others: [...document.querySelectorAll('#console :is(script, img, iframe, object, embed, link, style)')].map((one) => one.outerHTML),
        links: [...document.querySelectorAll('a[href]')].map(({ href }) => href).filter((href) => !/^(https?|blob):/.test(href)),
      })`),

    /** The names of the elements that the keyboard must reach. */
    focusable: (): Promise<string[]> =>
      page.evaluate(`[...document.querySelectorAll('a[href], button, input, select, textarea, summary, [tabindex="0"]')]
        .filter((one) => one.checkVisibility() && !one.disabled && one.tabIndex >= 0).map(${NAME})`),

    /** The element with the focus, and whether the focus is visible. */
    focused: (): Promise<{ name: string; isSeen: boolean }> =>
      page.evaluate(`(() => {
        const one = document.activeElement;
        const { outlineStyle, outlineWidth, boxShadow } = getComputedStyle(one);
        const hasRing = (outlineStyle !== 'none' && outlineWidth !== '0px') || boxShadow !== 'none';
        return { name: (${NAME})(one), isSeen: one === document.body || (hasRing && one.checkVisibility()) };
      })()`),
    /**
     * Goes to another page of the console as a link does, without loading the document again: a load costs more processor
     * time than all else that a test does with the page. Resolves when the page's frame is drawn.
     */
    async visit(path: string): Promise<void> {
      if (!page.url().startsWith(`${base}/console/`)) return void (await page.goto(path));
      await page.evaluate(`new Promise((drawn) => {
        const link = Object.assign(document.createElement('a'), { href: ${JSON.stringify(path)} });
        document.body.append(link);
        link.click();
        link.remove();
        requestAnimationFrame(() => requestAnimationFrame(drawn));
      })`);
    },
    /** Resolves when the page loads nothing any more. */
    async settled(): Promise<void> {
      await page.locator('#page h1').first().waitFor();
      await page.locator('.skeleton, [aria-busy=true]').first().waitFor({ state: 'detached' });
    },
  };
}
