// The thread that makes the site in a checkout.
import { parentPort } from 'node:worker_threads';
import { answerOn } from '../../../runtime/thread-answers.ts';
import { makeSite } from './make-site.ts';

/** The release of the interface that the site is made for. */
export interface Question {
  apiRelease: string;
}

answerOn(parentPort, ({ apiRelease }: Question) => makeSite(apiRelease));
