import { DomainError } from '@lapel/schemas/contracts/errors';
import type { Stage } from './rollout.ts';

/** A stage as an application writes it: a share of all devices, or a number of them. */
export type WrittenStage = Omit<Stage, 'devices' | 'approval' | 'approvalBy'> & {
  percent?: number | undefined;
  count?: number | undefined;
  approval?: boolean | { by: 'other' };
};

const approvalOf = (approval: WrittenStage['approval']): Pick<Stage, 'approval' | 'approvalBy'> =>
  approval === undefined
    ? {}
    : typeof approval === 'boolean'
      ? { approval }
      : { approval: true, approvalBy: approval.by };

/** The rule of a stage that names none: otherwise one success among many failures would let it pass. */
const USUAL = { succeededPercent: 95, soakFor: 0 };

/**
 * The stages of a rollout with the numbers of their devices. The devices that no stage takes make a last one; `continuous`:
 * so do the devices that come later. Throws REQUEST_INVALID when a stage has neither share nor number, or both, or when the
 * shares exceed all devices.
 */
export function stagesOf(written: readonly WrittenStage[], total: number, continuous = false): Stage[] {
  const shares = written.reduce((sum, { percent = 0 }) => sum + percent, 0);
  if (shares > 100) {
    const msg = 'Input should have stages whose percent are at most 100 together';
    throw DomainError.invalid({ loc: ['body', 'stages'], msg, type: 'less_than_equal' });
  }
  const faults = written.flatMap(({ percent, count }, index) => {
    if ((percent === undefined) !== (count === undefined)) return [];
    const msg = percent === undefined ? 'Field required' : 'Input should not be given beside percent';
    const type = percent === undefined ? 'missing' : 'extra_forbidden';
    return [{ loc: ['body', 'stages', String(index), percent === undefined ? 'percent' : 'count'], msg, type }];
  });
  if (faults.length > 0) throw DomainError.invalid(...faults);
  let left = total;
  const stages = written.map(({ percent, count, approval, ...rules }): Stage => {
    const devices = Math.min(left, count ?? Math.ceil((total * (percent ?? 0)) / 100));
    left -= devices;
    return { ...rules, ...approvalOf(approval), devices };
  });
  if (left > 0 || stages.length === 0 || (continuous && shares < 100)) stages.push({ devices: left });
  return stages.map((stage, index) => (index < stages.length - 1 ? { continueWhen: USUAL, ...stage } : stage));
}
