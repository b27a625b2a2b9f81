import type { Fault } from '@lapel/schemas/contracts/errors';
import type { RolloutHealthRule } from '@lapel/schemas/contracts/types';

/** The measures for which a rule may name a time. */
const WITH_TIME: readonly string[] = ['silent', 'reconnects', 'events', 'failedCommands'];

/** The faults of health rules that their schema cannot tell. */
export const healthFaults = (rules: readonly RolloutHealthRule[] = []): Fault[] =>
  rules.flatMap(({ measure, types, atMost, timesControl, within }, index) => {
    const fault = (member: string, msg: string, type: string): Fault => ({
      loc: ['body', 'health', String(index), member],
      msg,
      type,
    });
    const faults: Fault[] = [];
    if (atMost === undefined && timesControl === undefined)
      faults.push(fault('atMost', 'Field required, or timesControl', 'missing'));
    if (atMost !== undefined && timesControl !== undefined)
      faults.push(fault('timesControl', 'Input should not be given beside atMost', 'extra_forbidden'));
    if (measure === 'silent' && atMost !== undefined && atMost > 99)
      faults.push(fault('atMost', 'Input should be at most 99 percent', 'less_than_equal'));
    if (measure === 'events' && types === undefined) faults.push(fault('types', 'Field required', 'missing'));
    if (measure !== 'events' && types !== undefined)
      faults.push(fault('types', 'Input should be given for events only', 'extra_forbidden'));
    if (within !== undefined && !WITH_TIME.includes(measure))
      faults.push(fault('within', `Input should be given for ${WITH_TIME.join(', ')} only`, 'extra_forbidden'));
    return faults;
  });
