import { answerWith } from '../docs/file.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ConsolePages } from './pages.ts';

/** What the handlers of the console act on. */
export interface ConsoleServices {
  pages: ConsolePages;
}

/** The page, or a file of it. */
export const servePages = async (
  { pages }: Pick<ConsoleServices, 'pages'>,
  { headers, target }: Pick<Input, 'headers' | 'target'>,
): Promise<Answer> => answerWith(await pages.find(target.path), headers);
