import { createFairQueue } from '../../runtime/fair-queue.ts';
import { threadTime } from '../../runtime/thread-time.ts';

/**
 * Milliseconds of processor time in one turn of the event loop for the packets of devices, over all connections: while
 * several developers are active, and while only one is. Shorter turns leave less time to the packets of others, and
 * have more overhead.
 */
const PER_TURN = { shared: 1, alone: 5 };
/** Milliseconds after the packet of another developer, until a developer counts as the only active one. */
const ALONE_AFTER = 1_000;
/** A packet counts once more for each further 1024 bytes (as a power of two). */
const BYTES_COUNTED = 10;

/** Continues the reading of a connection: it passes on one run of packets, or nothing if the connection has ended. */
type Resume = () => void;

/**
 * Calls `next` after the work that has just begun reaches its first real wait: settled promises are processed first.
 */
const afterwards = (next: () => void): void => queueMicrotask(() => process.nextTick(next));

interface Clocks {
  /** The current time in milliseconds. */
  now?: () => number;
  /** The processor time used so far, in milliseconds. */
  used?: () => number;
}

/**
 * Shares the event loop between the packets of all connections and all other work. Rates limit each device, but the
 * many devices of a developer together can cause more work than there is time for. So the processor time of packets is
 * measured, including the work that follows at once. When it exceeds the limit of a turn, further connections wait for
 * the next turns. They take turns by developer, then by device, with a few packets each. So a short ack waits neither
 * for a hundred large messages, nor for the small ones of hundreds of devices of another developer.
 */
export function createReadingShare({ now = () => performance.now(), used = threadTime }: Clocks = {}) {
  const waiting = createFairQueue<Resume>();
  /** The time when the first packet of this turn was passed on. */
  let began: number | undefined;
  /**
   * The processor time when the first packet of this turn was passed on. It is read only after a turn was too long by
   * the wall clock, because reading it costs time, too.
   */
  let beganAt: number | undefined;
  let isPressed = false;
  let scheduled = false;
  let latest: string | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;

  function isUsedUp(): boolean {
    if (began === undefined) return false;
    const at = now();
    const most = at - changedAt < ALONE_AFTER ? PER_TURN.shared : PER_TURN.alone;
    if (at - began < most) return false; // the processor time cannot be more than the elapsed time
    isPressed = true;
    return beganAt === undefined || used() - beganAt >= most;
  }

  function schedule(): void {
    if (scheduled) return;
    scheduled = true;
    setImmediate(turn);
  }

  function turn(): void {
    began = undefined;
    beganAt = undefined;
    goRound();
  }

  function goRound(): void {
    const resume = isUsedUp() ? undefined : waiting.take();
    if (resume) {
      resume();
      afterwards(goRound);
      return;
    }
    scheduled = false;
    isPressed &&= waiting.size() > 0;
    if (began !== undefined || waiting.size() > 0) schedule();
  }

  return {
    /** Whether packets may be passed on at once; otherwise the connection must wait. */
    free: (): boolean => waiting.size() === 0 && !isUsedUp(),
    /** Queues a connection, with the size of its next packet in bytes. */
    wait(resume: Resume, { developerId, deviceId }: { developerId: string; deviceId: string }, bytes: number): void {
      waiting.put([developerId, deviceId], resume, 1 + (bytes >> BYTES_COUNTED));
      schedule();
    },
    /** Called before packets are passed on, with the developer of the device when it is known. */
    begins(developerId: string | undefined): void {
      const at = now();
      began ??= at;
      if (isPressed) beganAt ??= used();
      if (developerId === undefined) {
        schedule();
        return;
      }
      if (latest !== undefined && latest !== developerId) changedAt = at;
      latest = developerId;
      schedule();
    },
  };
}
