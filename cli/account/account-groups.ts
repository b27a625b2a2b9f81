import type { Group } from '../line/command.ts';
import { login, logout, profiles } from './login.ts';
import { token } from './token.ts';

export const ACCOUNT_GROUPS: readonly Group[] = [
  { name: 'login', about: login.summary, commands: [login] },
  { name: 'logout', about: logout.summary, commands: [logout] },
  { name: 'profiles', about: profiles.summary, commands: [profiles] },
  { name: 'token', about: token.summary, commands: [token] },
];
