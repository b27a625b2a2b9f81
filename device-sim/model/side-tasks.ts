import type { KeyObject } from 'node:crypto';
import type { Chances } from '../faults/chances.ts';
import { type Patience, plainPatience } from '../files/download.ts';
import { createDownloadFolder, type DownloadFolder } from '../files/download-folder.ts';
import { createFetcher, type Fetcher } from '../files/fetcher.ts';
import { createUploader, type OwnFile } from '../files/uploader.ts';
import { type ConditionsNow, pace } from '../mqtt/conditions.ts';
import type { Link } from '../mqtt/link.ts';
import type { DeviceEvent, Response } from '../mqtt/messages.ts';
import { createOutgoingEvents, type OutgoingEvents } from '../mqtt/outgoing-events.ts';
import { createRequests, type Requests } from '../mqtt/requests.ts';
import { createRandom, deriveSeed, type Range } from '../random.ts';
import type { Timers } from '../timers.ts';
import { type Calls, createCalls } from './calls.ts';
import type { DeviceEvents } from './device-events.ts';

interface SideTasksParts {
  deviceId: string;
  link: Link;
  seed: number;
  chances: Chances;
  /** The share of uploads that break off. */
  uploadFailureRate: number;
  fileSize: Range;
  downloads?: DownloadFolder | undefined;
  trustedKeys?: readonly KeyObject[] | undefined;
  patience?: Partial<Patience> | undefined;
  timers: Timers;
  wrongBy: (() => number) | undefined;
  /** The network of the device, if it may be bad. */
  conditions?: ConditionsNow | undefined;
  isLate: ((key: string) => boolean) | undefined;
  tellWatchers: <Name extends keyof DeviceEvents>(name: Name, what: DeviceEvents[Name]) => void;
  onSettled: () => void;
  /** Whether the device is activated. Otherwise it sends no events, because no application would receive them. */
  isActivated: () => boolean;
}

/**
 * The work of a device besides its commands: events, requests, calls, files. Its parts are made when they are needed,
 * because most of many thousand devices need none.
 */
export class SideTasks {
  readonly #parts: SideTasksParts;
  readonly #patience: Patience;
  #folder: DownloadFolder | undefined;
  #happened: OutgoingEvents | undefined;
  #requests: Requests | undefined;
  #calls: Calls | undefined;

  constructor(parts: SideTasksParts) {
    this.#parts = parts;
    const { conditions, timers } = parts;
    this.#patience = {
      ...plainPatience,
      ...(conditions && { pace: (bytes, signal) => pace(bytes, conditions, timers, signal) }),
      ...parts.patience,
    };
  }

  /** The number of tasks in progress, or waiting for a connection. */
  get size(): number {
    return (this.#calls?.size ?? 0) + (this.#happened?.waiting ?? 0);
  }

  /** Sends an event, and returns it; undefined if the device is not activated. */
  tell(type: string, data: DeviceEvent['data']): DeviceEvent | undefined {
    if (!this.#parts.isActivated()) return undefined;
    this.#happened ??= this.#makeEvents();
    return this.#happened.add(type, data);
  }

  calls(): Calls {
    this.#calls ??= this.#makeCalls();
    return this.#calls;
  }

  online(): void {
    this.#requests?.online();
    this.#happened?.online();
  }

  receive(response: Response): void {
    this.#requests?.receive(response);
  }

  makeFetcher(): Fetcher {
    const { deviceId, downloads, seed, timers, trustedKeys } = this.#parts;
    // Without a given folder the device makes a folder for its downloads, and removes it at its end.
    if (!downloads) this.#folder ??= createDownloadFolder();
    return createFetcher({
      deviceId,
      folder: downloads ?? this.#folder!,
      requests: this.#theRequests(),
      patience: this.#patience,
      random: createRandom(deriveSeed(seed, 4)),
      timers,
      trustedKeys,
    });
  }

  /** Forgets calls, uploads, requests and events, as a restart does. Resolves when the work in progress has ended. */
  async forget(): Promise<void> {
    const calls = this.#calls;
    this.#calls = undefined;
    this.#requests = undefined;
    this.#happened = undefined;
    await calls?.stop();
  }

  async stop(): Promise<void> {
    await this.#calls?.stop();
  }

  /** Removes the folder for downloads that the device has made. */
  async clear(): Promise<void> {
    await this.#folder?.[Symbol.asyncDispose]();
  }

  #theRequests(): Requests {
    const { link, timers, onSettled } = this.#parts;
    this.#requests ??= createRequests({
      isOnline: () => link.online,
      publish: (payload) => link.publish('requests', payload, onSettled),
      wait: this.#patience.answer,
      timers,
    });
    return this.#requests;
  }

  #makeEvents(): OutgoingEvents {
    const { link, wrongBy, tellWatchers, onSettled } = this.#parts;
    return createOutgoingEvents({
      isOnline: () => link.online,
      ...(wrongBy && { wrongBy }),
      publish: (payload, done) =>
        link.publish('events', payload, () => {
          done();
          onSettled();
        }),
      onEvent: (event) => tellWatchers('event', [event]),
      onAcknowledged: (event) => tellWatchers('told', [event]),
      onLost: (event) => tellWatchers('forgotten', [event]),
    });
  }

  #makeCalls(): Calls {
    const { deviceId, seed, uploadFailureRate, timers, isLate, tellWatchers, onSettled } = this.#parts;
    return createCalls({
      deviceId,
      uploader: createUploader({
        requests: this.#theRequests(),
        patience: this.#patience,
        failureRate: uploadFailureRate,
        random: createRandom(deriveSeed(seed, 9)),
        timers,
        onRetry: () => tellWatchers('uploadRetry', []),
        onFile: (file) => tellWatchers('upload', [file]),
      }),
      makeFile: (key, name) => this.#makeFile(key, name),
      isLate: isLate ?? (() => false),
      timers,
      tell: (type, data) => this.tell(type, data),
      onOutcome: (outcome) => tellWatchers('uploaded', [outcome]),
      onSettled,
    });
  }

  #makeFile(key: string, name: string): OwnFile {
    const { chances, fileSize, seed } = this.#parts;
    const size = Math.round(chances.within({ kind: 'upload', key }, 'size', fileSize));
    return { name, size, seed: deriveSeed(seed, 10, ...Buffer.from(key)) };
  }
}
