import { MODULE_ENDING } from '@lapel/schemas/base/installation';
import { DomainError } from '@lapel/schemas/contracts/errors';
import { createAnsweringThread } from '../../runtime/answering-thread.ts';
import { createRemembered } from '../../runtime/remembered.ts';
import type { Question } from './docs-worker.ts';
import type { DocsFile } from './file.ts';
import type { Given } from './making.ts';

/** Milliseconds after the last file was made until the thread ends: who reads one page often reads another. */
const IDLE_MS = 30_000;

interface Parts extends Pick<Given, 'documents' | 'apiRelease' | 'timeZone'> {
  /** The URL of the API that callers use (`{base_url}`), without a slash at its end. */
  publicUrl(): string;
  /** The URLs that devices connect to: an `mqtt`, `mqtts`, `ws` or `wss` URL for each listener. */
  mqttUrls(): string[];
}

export type Docs = ReturnType<typeof createDocs>;

/**
 * The documents of the API, and the site of all documents. Each file is made at its first request, on a thread of its own,
 * and kept.
 */
export function createDocs({ publicUrl, mqttUrls, ...given }: Parts) {
  const remembered = createRemembered({ keptMicros: Number.POSITIVE_INFINITY });
  let thread: ReturnType<typeof createAnsweringThread<Question>> | undefined;

  function ask(path: string | null): Promise<unknown> {
    // The addresses are known when the service listens.
    thread ??= createAnsweringThread<Question>({
      module: new URL(`./docs-worker${MODULE_ENDING}`, import.meta.url),
      workerData: { ...given, publicUrl: publicUrl(), mqttUrls: mqttUrls() } satisfies Given,
      idleMs: IDLE_MS,
      name: 'thread that makes the documents',
    });
    return thread.ask({ path });
  }

  async function make(path: string): Promise<DocsFile> {
    const { bytes, gzipped, ...file } = (await ask(path)) as DocsFile;
    // A buffer that was posted is a Uint8Array, often a part of a larger one.
    return { ...file, bytes: Buffer.from(bytes), gzipped: Buffer.from(gzipped) };
  }

  /** The paths of all files. */
  const paths = (): Promise<Set<string>> => remembered('', async () => new Set((await ask(null)) as string[]));

  return {
    paths,
    /** Finds the file of a path: a document, `/docs`, or a page or a file below it. Throws FILE_NOT_FOUND. */
    async find(path: string): Promise<DocsFile> {
      // Only paths that exist are looked for in what is kept, so that others cannot drive these out.
      if (!(await paths()).has(path)) throw new DomainError('FILE_NOT_FOUND');
      return remembered(path, () => make(path));
    },

    async [Symbol.asyncDispose](): Promise<void> {
      await thread?.close(new Error('the service ends'));
    },
  };
}
