import { answerWith } from '../docs/file.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ConsolePages } from './pages.ts';

/** The part that the handler of the console uses. */
export interface ConsoleServices {
  pages: ConsolePages;
}

/** Answers the page of the console, or one of its files. */
export const servePages = async (
  { pages }: Pick<ConsoleServices, 'pages'>,
  { headers, target }: Pick<Input, 'headers' | 'target'>,
): Promise<Answer> => answerWith(await pages.find(target.path), headers);
