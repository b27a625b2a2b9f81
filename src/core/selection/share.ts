import { spread } from '../../runtime/spread.ts';
import type { Share } from './selector.ts';

/** Whether a device belongs to a share. Shares of the same salt are nested, those of different salts are independent. */
export const isInShare = (deviceId: string, { percent, salt }: Share): boolean =>
  spread(`share/${salt}/${deviceId}`) * 100 < percent;
