import { tables } from '@joplin/turndown-plugin-gfm';
import TurndownService, { type Node } from 'turndown';
import { withoutParts, withoutService } from '../../slots.ts';
import { ANSWER_FIELDS } from '../reference/fields.ts';

/** What is read of an element of a page. */
interface Element {
  nodeName: string;
  textContent: string;
  getAttribute(name: string): string | null;
}

const is =
  (name: string, holds: (element: Element) => boolean = () => true) =>
  (node: Node): boolean => {
    const element = node as unknown as Element;
    return element.nodeName === name && holds(element);
  };

const converter = new TurndownService({ headingStyle: 'atx', codeBlockStyle: 'fenced', bulletListMarker: '-' });
converter.use(tables);
// A block of code keeps its language, which the pages have as an attribute of their own.
converter.addRule('code', {
  filter: is('PRE'),
  replacement: (_content, node) => {
    const pre = node as unknown as Element;
    const fence = pre.textContent.includes('```') ? '````' : '```';
    const language = pre.getAttribute('data-language') ?? '';
    return `\n\n${fence}${language}\n${pre.textContent.trimEnd()}\n${fence}\n\n`;
  },
});
// A heading is a link to itself on a page, which says nothing in a text.
converter.addRule('own anchors', {
  filter: is('A', (link) => (link.getAttribute('href') ?? '#').startsWith('#')),
  replacement: (content) => content,
});
// The choice between samples belongs to a page: a text shows them all.
converter.addRule('choices', {
  filter: is('DIV', (part) => part.getAttribute('class') === 'choice'),
  replacement: () => '',
});

// The fields of an answer are in the OpenAPI part that the page names; repeated for each call, they make a text too long.
const ANSWERS = [`<details><summary>${ANSWER_FIELDS}</summary>`, '</details>'] as const;

/** The text of a page in Markdown: its main part, without navigation, forms and styles. */
export function textOfPage(page: string): string {
  const text = withoutService(page);
  const main = text.slice(text.indexOf('<main id="main">'), text.indexOf('</main>'));
  return `${converter.turndown(withoutParts(main, ...ANSWERS)).trim()}\n`;
}
