import { answerWith } from '../docs/file.ts';
import type { Answer, Input } from '../http/route.ts';
import type { ApiServices } from './services.ts';

type Asked = Pick<Input, 'headers' | 'target'>;

/** Answers a document, a page of the documents, or a file of such a page. */
export const readDocs = async ({ docs }: Pick<ApiServices, 'docs'>, { headers, target }: Asked): Promise<Answer> =>
  answerWith(await docs.find(target.path), headers);
