import type { Docs } from '../docs/docs.ts';

/** A section of a page of the documents, as text. */
export interface Section {
  page: string;
  /** Its anchor in the page; '' for the beginning. */
  anchor: string;
  title: string;
  text: string;
}

const HEADING = /<h([1-3])(?: id="([^"]{0,200})")?[^>]{0,400}>/g;
const CHARACTERS: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

/** The text of a piece of a page of this service: rows of tables and items of lists are lines. */
export const textOf = (html: string): string =>
  html
    .replaceAll(/<(script|style|svg|nav)\b[^>]{0,400}>[\s\S]*?<\/\1>/g, '')
    .replaceAll(/<\/(?:p|tr|li|h[1-6]|pre|div|table|ul|ol)>/g, '\n')
    .replaceAll(/<\/t[dh]>/g, ' | ')
    .replaceAll(/<li\b[^>]{0,400}>/g, '- ')
    .replaceAll(/<[^<>]{0,2000}>/g, '')
    .replaceAll(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => CHARACTERS[name]!)
    .replaceAll(/[ \t]+/g, ' ')
    .replaceAll(/ ?\n[ \n]*/g, '\n')
    .trim();

function sectionsOf(page: string, html: string): Section[] {
  const [main = html] = /<main[\s>][\s\S]*<\/main>/.exec(html) ?? [];
  const marks = [...main.matchAll(HEADING)];
  return marks.map((mark, at) => {
    const [title = '', ...lines] = textOf(main.slice(mark.index, marks[at + 1]?.index)).split('\n');
    return { page, anchor: mark[2] ?? '', title: title.replace(/ ?#$/, ''), text: lines.join('\n') };
  });
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
      const { bytes } = await find(page === '' ? '/docs' : `/docs/${page}`);
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
