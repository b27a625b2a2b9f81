import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ROOT_FOLDER } from '@lapel/schemas/base/installation';
import { siteLink } from './links.ts';
import { readMarkdown } from './markdown.ts';
import { type Frame, pageOf } from './page.ts';
import type { GUIDES } from './places.ts';

/** The text of a document of this project. */
export const readGuide = (file: string): Promise<string> => readFile(join(ROOT_FOLDER, file), 'utf8');

/** The page of a document in Markdown. */
export async function guidePage(frame: Frame, { name, file }: (typeof GUIDES)[number]): Promise<string> {
  const linkTo = (link: string): string | null => siteLink(link, file);
  const { title, headings, content } = readMarkdown(await readGuide(file), { linkTo });
  return pageOf(frame, { name, title, headings, body: content });
}
