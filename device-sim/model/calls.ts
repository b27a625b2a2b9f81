import { randomUUID } from 'node:crypto';
import type { OwnFile, Uploader, UploadOutcome } from '../files/uploader.ts';
import { pause, type Timers } from '../timers.ts';

/** The plan of a call. */
export interface CallPlan {
  /** The length of the call. */
  readonly milliseconds: number;
  /** Whether each side of the call becomes a movie file, which is uploaded afterwards. */
  readonly recorded: boolean;
  /** The number of other participants, 1 to 31. */
  readonly others: number;
}

/** How many uploads of one device may wait; further ones are dropped. */
const BACKLOG = 8;
const CONTENT_TYPE = 'video/mp4';

/** The actions of the wearer of a device: calls, and files of the customer's application. */
export interface Calls {
  /** Begins a call; returns its callId, or undefined during another call. */
  call(plan: CallPlan): string | undefined;
  /** Begins an upload; returns the fileId. */
  uploadFile(): string;
  /** The number of calls and uploads in progress. */
  readonly size: number;
  /** Ends all calls and uploads at once; resolves when nothing of them is left. */
  stop(): Promise<void>;
}

export function createCalls({
  deviceId,
  uploader,
  makeFile,
  isLate,
  timers,
  tell,
  onOutcome,
  onSettled,
}: {
  deviceId: string;
  uploader: Uploader;
  /** Makes a file for an upload; the key identifies the upload. */
  makeFile: (key: string, name: string) => OwnFile;
  /** Whether the upload URL is used too late. */
  isLate: (key: string) => boolean;
  timers: Timers;
  tell: (type: string, data: Readonly<Record<string, unknown>>) => void;
  onOutcome: (outcome: UploadOutcome) => void;
  onSettled: () => void;
}): Calls {
  const stopped = new AbortController();
  const { signal } = stopped;
  const underWay = new Set<Promise<void>>();
  let inCall = false;
  let calls = 0;
  let ownFiles = 0;
  let backlog = 0;
  let uploads: Promise<unknown> = Promise.resolve();

  function follow(work: Promise<void>): void {
    const mine = work
      .catch((error: unknown) => {
        if (!signal.aborted) throw error;
      })
      .finally(() => {
        underWay.delete(mine);
        onSettled();
      });
    underWay.add(mine);
  }

  /** Uploads run one after another, because the radio of a device is narrow. */
  async function send(order: Parameters<Uploader['send']>[0]): Promise<UploadOutcome> {
    if (backlog >= BACKLOG) {
      return { kind: 'failed', error: { code: 'STORAGE_FULL', message: 'too many files wait to be uploaded' } };
    }
    backlog += 1;
    const outcome = uploads.then(() => uploader.send(order, signal));
    uploads = outcome.catch(() => {});
    try {
      return await outcome;
    } finally {
      backlog -= 1;
    }
  }

  async function sendRecording(key: string, callId: string, connectionIds: readonly string[]): Promise<void> {
    const files = connectionIds.map((_, index) => makeFile(`${key}/${index + 1}`, `${callId}-${index + 1}.mp4`));
    const asked = files.map(({ name, size }) => ({ name, size, contentType: CONTENT_TYPE }));
    const outcome = await send({
      type: 'recordingUploadUrls',
      data: { callId, files: asked },
      files,
      late: isLate(key),
    });
    onOutcome(outcome);
    if (outcome.kind === 'sent') {
      const connections = connectionIds.map((connectionId, index) => ({
        connectionId,
        movieFile: files[index]!.name,
      }));
      tell('recording.saved', { callId, connections });
    } else if (outcome.kind === 'failed') tell('recording.failed', { callId, error: outcome.error });
  }

  async function sendFile(key: string, fileId: string): Promise<void> {
    const file = makeFile(key, `clip-${fileId.slice(0, 8)}.mp4`);
    const { name, size } = file;
    const data = { fileId, name, size, contentType: CONTENT_TYPE };
    const outcome = await send({ type: 'fileUploadUrl', data, files: [file], late: isLate(key) });
    onOutcome(outcome);
    if (outcome.kind === 'sent') tell('fileUpload.succeeded', { fileId, name, size });
    else if (outcome.kind === 'failed') tell('fileUpload.failed', { fileId, name, error: outcome.error });
  }

  async function talk(key: string, callId: string, { milliseconds, recorded, others }: CallPlan): Promise<void> {
    const names = [deviceId, ...Array.from({ length: others }, (_, index) => `operator-${index + 1}`)];
    const participants = names.map((name) => ({ connectionId: randomUUID(), name }));
    tell('call.started', { callId, participants });
    const began = timers.now();
    await pause(timers, milliseconds, signal);
    inCall = false;
    signal.throwIfAborted();
    const durationSeconds = Math.round(timers.now() - began) / 1000;
    tell('call.ended', { callId, participants, durationSeconds });
    if (recorded) {
      await sendRecording(
        key,
        callId,
        participants.map(({ connectionId }) => connectionId),
      );
    }
  }

  return {
    call(plan) {
      if (inCall) return undefined;
      inCall = true;
      const callId = randomUUID();
      calls += 1;
      follow(talk(`call ${calls}`, callId, plan));
      return callId;
    },
    uploadFile() {
      const fileId = randomUUID();
      ownFiles += 1;
      follow(sendFile(`file ${ownFiles}`, fileId));
      return fileId;
    },
    get size() {
      return underWay.size;
    },
    async stop() {
      stopped.abort(new Error('the device is put away'));
      await Promise.all(underWay);
    },
  };
}
