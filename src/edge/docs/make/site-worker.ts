// The thread that makes the site in a checkout.
import { parentPort } from 'node:worker_threads';
import { answerOn } from '../../../runtime/thread-answers.ts';
import { makeSite } from './make-site.ts';
import { textOfPage } from './site/page-text.ts';

/** The release of the interface that the site is made for, or a page whose text in Markdown is asked for. */
export type Question = { apiRelease: string } | { page: string };

answerOn(parentPort, async (question: Question) =>
  'page' in question ? textOfPage(question.page) : makeSite(question.apiRelease),
);
