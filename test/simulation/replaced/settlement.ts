import type { createSettlement as Real } from '../../../src/core/transactions/settlement.ts';
import { ofPresent } from '../present-witness.ts';

// The question mark makes it another module than the one that this replaces.
const real = (await import('../../../src/core/transactions/settlement.ts?real' as string)) as {
  createSettlement: typeof Real;
};

/** The real settlement, which tells of each answer of a device that it has stored. */
export const createSettlement: typeof Real = (parts) => {
  const { commands } = ofPresent();
  const settlement = real.createSettlement(parts);
  return {
    ...settlement,
    async settle(deviceId, ack, fence) {
      await settlement.settle(deviceId, ack, fence);
      if (ack.status !== 'processing') commands.answered(ack.transactionId);
    },
  };
};
