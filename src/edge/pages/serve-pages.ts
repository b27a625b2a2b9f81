import { answerWith } from '../docs/file.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ConsolePages } from './pages.ts';

/** The only service that the handler of the console needs. */
export interface ConsoleServices {
  pages: ConsolePages;
}

/** Answers the page of the console, or one of its files. */
export const servePages = async (
  { pages }: Pick<ConsoleServices, 'pages'>,
  { headers, target }: Pick<Input, 'headers' | 'target'>,
): Promise<Answer> => answerWith(await pages.find(target.path), headers);
