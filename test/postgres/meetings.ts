/** Meetings that may end with a unit of work that was rolled back. */
const MOST = 4;

/**
 * Lets two nodes meet until no unit of work was rolled back, at most four times; resolves to the number of the last meeting.
 * A deadlock comes each time. A busy machine makes a unit wait too long for a lock now and then.
 */
export async function brokenEachTime(meet: (round: number) => Promise<number>): Promise<number> {
  for (let round = 1; ; round += 1) {
    const broken = await meet(round);
    if (broken === 0 || round === MOST) return broken;
  }
}
