import { randomUUID } from 'node:crypto';
import type { OwnFile, Uploader, UploadOutcome } from '../files/uploader.ts';
import type { Failure } from '../mqtt/messages.ts';
import { pause, type Timers } from '../timers.ts';
import type { DiagnosticFile, UploadedDiagnostics } from './diagnostics.ts';

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
const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';

interface OneFile {
  fileId: string;
  file: OwnFile;
  contentType?: string;
  /** Whether the upload URL is used too late. */
  late?: boolean;
}

/** The actions of the wearer of a device: calls, and files of the customer's application. */
export interface Calls {
  /** Begins a call; returns its callId, or undefined during another call. */
  call(plan: CallPlan): string | undefined;
  /** Begins an upload; returns the fileId. */
  uploadFile(): string;
  /** Uploads the files of diagnostics; resolves to them, or to the reason why not all were uploaded. */
  sendDiagnostics(
    files: readonly DiagnosticFile[],
    signal: AbortSignal,
  ): Promise<readonly UploadedDiagnostics[] | Failure>;
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
  async function send(order: Parameters<Uploader['send']>[0], ending = signal): Promise<UploadOutcome> {
    if (backlog >= BACKLOG) {
      return { kind: 'failed', error: { code: 'STORAGE_FULL', message: 'too many files wait to be uploaded' } };
    }
    backlog += 1;
    const outcome = uploads.then(() => uploader.send(order, ending));
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
        size: files[index]!.size,
        sha256: outcome.sha256s[index],
      }));
      tell('recording.saved', { callId, connections });
    } else if (outcome.kind === 'failed') tell('recording.failed', { callId, error: outcome.error });
  }

  /** Uploads a file to its own URL, and tells the application. */
  async function sendFile(
    { fileId, file, contentType = CONTENT_TYPE, late }: OneFile,
    ending?: AbortSignal,
  ): Promise<UploadOutcome> {
    const { name, size } = file;
    const data = { fileId, name, size, contentType };
    const outcome = await send({ type: 'fileUploadUrl', data, files: [file], ...(late && { late }) }, ending);
    onOutcome(outcome);
    if (outcome.kind === 'sent') tell('fileUpload.succeeded', { fileId, name, size, sha256: outcome.sha256s[0] });
    else if (outcome.kind === 'failed') tell('fileUpload.failed', { fileId, name, error: outcome.error });
    return outcome;
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
      const key = `file ${ownFiles}`;
      const file = makeFile(key, `clip-${fileId.slice(0, 8)}.mp4`);
      follow(sendFile({ fileId, file, late: isLate(key) }).then(() => undefined));
      return fileId;
    },
    async sendDiagnostics(files, ending) {
      const either = AbortSignal.any([signal, ending]);
      const sent: UploadedDiagnostics[] = [];
      for (const file of files) {
        const { kind, fileId, name, size } = file;
        const outcome = await sendFile({ fileId, file, contentType: name.endsWith('.txt') ? TEXT : JSON_TYPE }, either);
        if (outcome.kind !== 'sent') {
          const { code, message } = outcome.error;
          return { code: 'UPLOAD_FAILED', message: `${name}: ${code}: ${message}` };
        }
        sent.push({ kind, fileId, name, size, sha256: outcome.sha256s[0]! });
      }
      return sent;
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
