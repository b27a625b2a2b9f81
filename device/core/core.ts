import type { Disk } from '../disk/disk.ts';
import { Journal } from '../disk/journal.ts';
import type { Importance } from '../disk/records.ts';
import type { Outcome } from './answer.ts';
import { BOUNDS, type Bounds } from './bounds.ts';
import { Commands } from './commands.ts';
import { type Effect, INCOMING, type Incoming, type ListKind } from './effects.ts';
import { Events } from './events.ts';
import { readCommand, readResponse } from './messages.ts';
import { Networks } from './networks.ts';
import { Requests } from './requests.ts';
import { type Clocks, Stage } from './stage.ts';
import { Status } from './status.ts';

export interface CoreOptions extends Clocks {
  disk: Disk;
  bounds?: Partial<Bounds>;
  /** Bytes above which the file may be written anew; 256 KiB if left out. */
  rewriteAbove?: number;
  /** The lists of networks that this device has; both if left out. The maker gets the commands of another one. */
  kinds?: readonly ListKind[];
  /** Makes an id that was never used before. */
  newId(kind: 'event' | 'request'): string;
}

/**
 * The duties of a device, without a network, a timer or a clock of its own: it gets what happens, and `take` returns what
 * is to be done, in this order. device/cases.json says what it does.
 */
export class Core {
  readonly #journal: Journal;
  readonly #stage: Stage;
  readonly #networks: Networks;
  readonly #commands: Commands;
  readonly #events: Events;
  readonly #requests: Requests;
  readonly #status: Status;

  /** Reads the file. Throws when the disk fails, or the file is not one of this library. */
  constructor({ disk, bounds, rewriteAbove, kinds = ['networks', 'apns'], newId, ...clocks }: CoreOptions) {
    const all = { ...BOUNDS, ...bounds };
    const { leastAnswers, mostAnswers } = all;
    this.#journal = new Journal(disk, {
      leastAnswers,
      mostAnswers,
      ...(rewriteAbove !== undefined && { rewriteAbove }),
    });
    const stage = new Stage(this.#journal, all, clocks);
    this.#stage = stage;
    this.#networks = new Networks({
      stage,
      kinds,
      publish: (id) => this.#commands.publish(id),
      next: () => this.#commands.next(),
      leave: () => {
        stage.emit({ leave: {} });
        this.disconnected();
      },
    });
    this.#commands = new Commands(stage, this.#networks);
    this.#events = new Events(stage, () => newId('event'));
    this.#requests = new Requests(stage, () => newId('request'));
    this.#status = new Status(stage);
    if (this.#journal.damaged > 0)
      stage.log('error', `${this.#journal.damaged} damaged lines of the file were passed over.`);
    this.#networks.start();
  }

  /** What is to be done since the last call, in this order. */
  take(): Effect[] {
    return this.#stage.take();
  }

  /** Small values that outlive a restart, by name. */
  setting(name: string): unknown {
    return this.#stage.memory.settings.get(name);
  }

  /** Null removes the value. Throws when the disk fails. */
  set(name: string, value: unknown): void {
    this.#stage.writeNow({ k: 'set', name, value });
  }

  /** Whether a list of networks is on trial. */
  get isTrying(): boolean {
    return this.#networks.isBusy;
  }

  /** A login has succeeded, over this kind of network if the device knows it. */
  connected(over?: ListKind): void {
    if (this.#stage.isConnected) return;
    this.#networks.connected(over);
    this.#stage.isConnected = true;
    this.#stage.emit({ subscribe: INCOMING });
    this.#status.connected();
    this.#commands.connected();
    this.#events.connected();
    this.#requests.connected();
  }

  disconnected(): void {
    if (!this.#stage.isConnected) return;
    this.#stage.endConnection();
    this.#commands.disconnected();
    this.#events.disconnected();
  }

  /** A message has come. What cannot be read gets its PUBACK, and changes nothing. */
  received(kind: Incoming, text: string): void {
    if (!this.#stage.isConnected) return;
    this.#stage.emit({ accept: kind });
    const command = kind === 'commands' ? readCommand(text) : undefined;
    const response = kind === 'responses' ? readResponse(text) : undefined;
    if (kind === 'errors') this.#stage.log('warning', `the service reports a fault: ${text.slice(0, 1000)}`);
    else if (command) this.#commands.received(command);
    else if (response) this.#requests.answered(response);
    else this.#stage.log('warning', `a message on ${kind} cannot be read: ${text.slice(0, 200)}`);
  }

  /** The PUBACK of a publish has come. */
  confirmed(token: number): void {
    this.#stage.confirm(token);
  }

  timePassed(): void {
    this.#stage.timePassed();
    this.#networks.timePassed();
  }

  /** The maker has ended the running command. */
  finished(outcome: Outcome): void {
    this.#commands.finished(outcome);
  }

  /** Stores the progress of the running command. Throws when the disk fails. */
  progress(value: unknown): void {
    this.#commands.progress(value);
  }

  /** See `Events.add`. */
  event(type: string, data: object, importance: Importance = 'normal'): string | undefined {
    return this.#events.add(type, data, importance);
  }

  report(status: object): void {
    this.#status.report(status);
  }

  /** Returns the requestId, which the answer has. */
  request(type: string, data: object): string {
    return this.#requests.ask(type, data);
  }

  giveUp(requestId: string): void {
    this.#requests.giveUp(requestId);
  }

  close(): void {
    this.#journal.close();
  }
}
