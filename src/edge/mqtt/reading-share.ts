import { createFairQueue } from '../../runtime/fair-queue.ts';
import { threadTime } from '../../runtime/thread-time.ts';

/**
 * Milliseconds of processor time of one turn of the event loop that the packets of devices may take, over all connections: of several
 * developers, and of one who is alone. Shorter turns leave less time to others' packets, and take more of it for themselves.
 */
const PER_TURN = { shared: 1, alone: 5 };
/** Milliseconds since the packet of another one, after which a developer is alone. */
const ALONE_AFTER = 1_000;
/** A packet counts once more for each so many bytes, as a power of two. */
const BYTES_COUNTED = 10;

/** A connection that waits for its share: it hands on one run of packets, or nothing when it is gone. */
type Resume = () => void;

/** Calls back when what was begun has come to where it waits for something else: promises that are settled go on first. */
const afterwards = (next: () => void): void => queueMicrotask(() => process.nextTick(next));

interface Clocks {
  /** Milliseconds. */
  now?: () => number;
  /** Milliseconds of processor time. */
  used?: () => number;
}

/**
 * Shares the event loop between the packets of all connections and everything else. Rates hold for each device, but a
 * developer may have many: together they cause more work than there is time for. What packets take is measured, with what
 * follows them at once; when it is too much for one turn, the connections wait for the next ones. They go round by developer,
 * then by device, a few packets each, so that a short acknowledgement waits neither behind a hundred large messages, nor
 * behind the small ones of another developer's hundreds of devices.
 */
export function createReadingShare({ now = () => performance.now(), used = threadTime }: Clocks = {}) {
  const waiting = createFairQueue<Resume>();
  /** When the first packet of this turn was handed on. */
  let began: number | undefined;
  /** The processor time of then. It is asked for only after a turn that was too long by the clock: that costs time, too. */
  let beganAt: number | undefined;
  let isPressed = false;
  let scheduled = false;
  let latest: string | undefined;
  let changedAt = Number.NEGATIVE_INFINITY;

  function isUsedUp(): boolean {
    if (began === undefined) return false;
    const at = now();
    const most = at - changedAt < ALONE_AFTER ? PER_TURN.shared : PER_TURN.alone;
    if (at - began < most) return false; // no more processor time than that has gone by
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
    /** Whether packets may be handed on at once; else the connection waits. */
    free: (): boolean => waiting.size() === 0 && !isUsedUp(),
    /** A connection of a developer's device whose next packet has so many bytes. */
    wait(resume: Resume, { developerId, deviceId }: { developerId: string; deviceId: string }, bytes: number): void {
      waiting.put([developerId, deviceId], resume, 1 + (bytes >> BYTES_COUNTED));
      schedule();
    },
    /** Packets are about to be handed on, of a developer's device where that is known. */
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
