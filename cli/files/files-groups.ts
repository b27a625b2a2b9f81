import type { Group } from '../line/command.ts';
import { apply } from './apply-command.ts';
import { exportFiles } from './export-command.ts';
import { plan } from './plan-command.ts';

export const FILES_GROUPS: readonly Group[] = [
  { name: 'plan', about: plan.summary, commands: [plan] },
  { name: 'apply', about: apply.summary, commands: [apply] },
  { name: 'export', about: exportFiles.summary, commands: [exportFiles] },
];
