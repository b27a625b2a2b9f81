import type { OwnPace } from '../scenario/own-pace.ts';
import type { Timers } from '../timers.ts';
import { Breach, LeftOut, NotPlayed } from './breach.ts';
import type { Case } from './cases/case.ts';
import { CASES } from './cases.ts';
import type { CaseRecord, Finding } from './device-test-record.ts';
import type { DeviceTestSettings } from './device-test-settings.ts';
import { type Journal, shortened } from './journal.ts';
import { placeOf, plainRule, type RuleName } from './rules.ts';
import type { Stage } from './stage.ts';

/** The most findings about one rule that are listed for one case. */
const MOST_FINDINGS = 3;

/** Plays cases, and collects the broken rules. */
export interface Judge {
  /** Plays a case. `ready` resolves when the device is connected. */
  play(name: string, stage: Stage, ready: () => Promise<void>): Promise<CaseRecord>;
  /** Reports a broken rule while a case is played. */
  raise(rule: RuleName, expected: string, came: string): void;
  /** The rule that an acknowledgement of an unknown transactionId breaks at present. */
  strayRule(): RuleName;
}

export function createJudge({
  settings,
  journal,
  own,
  timers,
}: {
  settings: DeviceTestSettings;
  journal: Journal;
  own: OwnPace;
  timers: Timers;
}): Judge {
  let findings: Finding[] = [];
  let current: Case | undefined;
  let mark = 0;
  /** The last case that has found a broken rule, until the device has made a new connection after it. */
  let brokenIn: string | undefined;
  /** Whether the device did not come back. The cases after that do not wait for it again. */
  let isLost = false;

  function raise(rule: RuleName, wanted: string, got: string): void {
    const [expected, came] = [shortened(wanted), shortened(got)];
    const same = findings.filter((one) => one.rule === rule);
    const isKnown = same.some((one) => one.expected === expected && one.came === came);
    if (isKnown || same.length >= MOST_FINDINGS) return;
    const story = journal.story(mark);
    journal.note('!', `${rule}: ${came}`);
    findings.push({ rule, text: plainRule(rule), place: placeOf(rule), expected, came, story });
  }

  function whyLeftOut({ isByHand, isRestart, isLong, isDrive }: Case): string | undefined {
    if (isRestart && settings.restartCommand !== null) return undefined;
    if (isByHand && settings.byHandMs === null) return `needs --by-hand${isRestart ? ' or --restart' : ''}`;
    if (isDrive && settings.drive === null) return 'needs --hours';
    return isLong && !settings.isThorough ? 'needs --thorough' : undefined;
  }

  /** Plays one case; returns its outcome in words. Throws what the case throws. */
  async function playOne(playable: Case, stage: Stage, ready: () => Promise<void>): Promise<string> {
    if (stage.stopped.aborted) throw new NotPlayed('the test was interrupted');
    if (isLost && !stage.service.isOnline) throw new NotPlayed('the device is not connected');
    // The case before may have left the device with unfinished work, or may have stopped it.
    if (brokenIn !== undefined) stage.service.cut();
    try {
      await ready();
      brokenIn = undefined;
    } catch (error) {
      isLost = true;
      if (brokenIn !== undefined && error instanceof Breach)
        throw new NotPlayed(`the device did not connect again after the case ${brokenIn}`);
      throw error;
    }
    return (await playable.play(stage)) ?? '';
  }

  return {
    raise,
    strayRule: () => current?.strayRule ?? 'answers',
    async play(name, stage, ready) {
      const playable = CASES[name];
      if (!playable) throw new Error(`there is no case ${name}`);
      const { about } = playable;
      const leftOut = whyLeftOut(playable);
      if (leftOut !== undefined) return { name, about, outcome: 'left out', shown: leftOut, findings: [] };
      current = playable;
      mark = journal.mark();
      const from = timers.now();
      stage.service.forget();
      stage.service.withheld.clear();
      stage.service.refusing.clear();
      stage.service.network = null;
      let shown = '';
      let outcome: CaseRecord['outcome'] = 'holds';
      try {
        shown = await playOne(playable, stage, ready);
      } catch (error) {
        if (error instanceof LeftOut) [outcome, shown] = ['left out', error.message];
        else if (error instanceof NotPlayed) [outcome, shown] = ['not run', error.message];
        else if (error instanceof Breach && error.isTimed && own.stoodStill(error.since ?? from, timers.now()) > 0)
          [outcome, shown] = ['not run', 'the simulator itself stood still'];
        else if (error instanceof Breach) raise(error.rule, error.expected, error.came);
        else throw error;
      }
      const found = findings;
      if (found.length > 0) brokenIn = name;
      findings = [];
      return { name, about, outcome: found.length > 0 ? 'broken' : outcome, shown, findings: found };
    },
  };
}
