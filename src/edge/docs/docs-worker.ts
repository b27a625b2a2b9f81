// The thread that makes the documents: reading the descriptions of the API, drawing pages and the search index each take
// the processor for a part of a second.
import { parentPort, workerData } from 'node:worker_threads';
import { answerOn } from '../../runtime/answers.ts';
import { createMaking, type Given } from './making.ts';

/** The path of the file that is wanted; null: the paths of all files. */
export interface Question {
  path: string | null;
}

const making = createMaking(workerData as Given);

answerOn(parentPort, async ({ path }: Question) => (path === null ? making.paths() : making.file(path)));
