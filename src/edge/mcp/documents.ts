import type { Docs } from '../docs/docs.ts';
import { anchorOf, pathOf, textFileOfPage } from '../docs/names.ts';

/** A section of a page of the documents, as text. */
export interface Section {
  page: string;
  /** Its anchor in the page; '' for the beginning. */
  anchor: string;
  title: string;
  text: string;
}

const HEADING = /^#{1,3} /;
const FENCE = /^(?:```|````)/;

/** A line in Markdown whose links keep their words only. */
function withoutLinks(line: string): string {
  const [first = '', ...others] = line.split('](');
  return others.reduce((text, part) => {
    const [open, close] = [text.lastIndexOf('['), part.indexOf(')')];
    if (open === -1 || close === -1) return `${text}](${part}`;
    return text.slice(0, open) + text.slice(open + 1) + part.slice(close + 1);
  }, first);
}

/** The sections of a page from its text in Markdown. */
function sectionsOf(page: string, markdown: string): Section[] {
  const sections: (Omit<Section, 'text'> & { lines: string[] })[] = [];
  let isCode = false;
  for (const line of markdown.split('\n')) {
    if (FENCE.test(line)) isCode = !isCode;
    if (!isCode && HEADING.test(line)) {
      const title = line.replace(HEADING, '');
      const anchor = sections.length === 0 ? '' : anchorOf(title);
      const same = sections.filter((one) => one.anchor === anchor || one.anchor.startsWith(`${anchor}-again-`)).length;
      sections.push({ page, title, anchor: same === 0 ? anchor : `${anchor}-again-${same}`, lines: [] });
    } else sections.at(-1)?.lines.push(isCode ? line : withoutLinks(line));
  }
  return sections.map(({ lines, ...section }) => ({ ...section, text: lines.join('\n').trim() }));
}

/** Words of a question that say nothing about its subject. */
const EMPTY = new Set(
  'a an and are at be by can do does for from has have how i in is it its my no not of on or that the this to was what when where which who why will with'.split(
    ' ',
  ),
);

export const wordsOf = (text: string): string[] => [
  ...new Set((text.toLowerCase().match(/[\p{L}\p{N}_]{2,40}/gu) ?? []).filter((word) => !EMPTY.has(word)).slice(0, 24)),
];

export type Documents = ReturnType<typeof createDocuments>;

/** The pages of the documents, by sections. They are read once, at the first question about them. */
export function createDocuments({ find, pages }: Pick<Docs, 'find' | 'pages'>) {
  let read: Promise<Section[]> | undefined;

  async function readAll(): Promise<Section[]> {
    const all: Section[] = [];
    for (const page of await pages()) {
      const { bytes } = await find(pathOf(textFileOfPage(page)));
      all.push(...sectionsOf(page, bytes.toString()));
    }
    return all;
  }

  function sections(): Promise<Section[]> {
    read ??= readAll().catch((error: unknown) => {
      read = undefined;
      throw error;
    });
    return read;
  }

  return {
    /** The sections of a page; empty when there is no such page. */
    of: async (page: string): Promise<Section[]> => (await sections()).filter((one) => one.page === page),
    pages,
    /** The sections that have most of the words, those that have them in their titles first. */
    async search(question: string, most: number): Promise<Section[]> {
      const words = wordsOf(question);
      const score = ({ title, text, page }: Section): number => {
        const [head, body] = [`${title} ${page}`.toLowerCase(), text.toLowerCase()];
        let sum = 0;
        for (const word of words) sum += (head.includes(word) ? 3 : 0) + (body.includes(word) ? 1 : 0);
        return sum;
      };
      const scored = (await sections()).map((section) => ({ section, score: score(section) }));
      return scored
        .filter((one) => one.score > 0)
        .sort((one, other) => other.score - one.score || one.section.text.length - other.section.text.length)
        .slice(0, most)
        .map(({ section }) => section);
    },
  };
}
