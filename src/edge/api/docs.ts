import type { DocsPath } from '../docs/docs.ts';
import { answerWith } from '../docs/file.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

/** Makes the handler of one file of the documentation. */
export const readDocs =
  (path: DocsPath) =>
  async ({ docs }: Pick<ApiServices, 'docs'>, { headers }: Pick<Input, 'headers'>): Promise<Answer> =>
    answerWith(await docs.find(path), headers);
