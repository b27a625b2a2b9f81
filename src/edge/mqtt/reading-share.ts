import { createFairQueue } from '../../runtime/fair-queue.ts';
import { threadTime } from '../../runtime/thread-time.ts';

/**
 * Milliseconds of processor time that the packets of all devices may take in one turn of the event loop: while several
 * developers are active, and while only one is. A shorter time makes packets of other developers wait less, but has
 * more overhead.
 */
const PER_TURN = { shared: 1, alone: 5 };
/** Milliseconds without a packet of another developer, after which a developer counts as the only active one. */
const ALONE_AFTER = 1_000;
/**
 * A packet counts as one in the queue, and as one more for each further 1024 bytes. The number is a power of two: 10
 * stands for 1024.
 */
const BYTES_COUNTED = 10;

/** Lets a waiting connection pass some packets on; does nothing when the connection has ended. */
type Resume = () => void;

/**
 * Calls `next` once the work that was just begun waits for something outside, such as the database. Work that follows
 * promises which are settled already runs before `next`.
 */
const afterwards = (next: () => void): void => queueMicrotask(() => process.nextTick(next));

interface Clocks {
  /** The current time in milliseconds. */
  now?: () => number;
  /** The processor time that this thread has used so far, in milliseconds. */
  used?: () => number;
}

/**
 * Divides the time of the event loop between the packets of devices and all other work. Rate limits hold for one
 * device, but the many devices of a developer together can cause more work than there is time for. So the processor
 * time of packets is measured, including the work that follows at once. When a turn of the event loop has used up its
 * time for packets, connections wait for the next turns: in turn by developer, then by device, with a few packets each.
 * So a short ack waits neither for a hundred large messages, nor for small ones of hundreds of devices of another
 * developer.
 */
export function createReadingShare({ now = () => performance.now(), used = threadTime }: Clocks = {}) {
  const waiting = createFairQueue<Resume>();
  /** The time when the first packet of this turn was passed on. */
  let began: number | undefined;
  /**
   * The processor time when the first packet of this turn was passed on. Reading it takes time as well, so it is read
   * only while turns take too long by the wall clock.
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
    /** True when packets may be passed on at once. Otherwise the connection must call `wait`. */
    free: (): boolean => waiting.size() === 0 && !isUsedUp(),
    /** Queues a connection; `bytes` is the size of its next packet. */
    wait(resume: Resume, { developerId, deviceId }: { developerId: string; deviceId: string }, bytes: number): void {
      waiting.put([developerId, deviceId], resume, 1 + (bytes >> BYTES_COUNTED));
      schedule();
    },
    /** Called before packets are passed on, with the developer of their device; undefined while it is not known. */
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
