import type { Group } from '../line/command.ts';
import { login, logout, profiles } from './login.ts';

export const ACCOUNT_GROUPS: readonly Group[] = [
  { name: 'login', about: login.summary, commands: [login] },
  { name: 'logout', about: logout.summary, commands: [logout] },
  { name: 'profiles', about: profiles.summary, commands: [profiles] },
];
