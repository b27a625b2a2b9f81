import type { ServiceControl } from '@lapel/device-sim/service/service-fault';
import { control } from '../service.ts';

/** The service of the world, in place of processes. */
export const startOwnService = (): ServiceControl => control();
