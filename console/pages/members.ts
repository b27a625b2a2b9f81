import type { Child } from '../base/elements.ts';
import { head } from '../parts/head.ts';
import { membersCard } from '../parts/members.ts';

/** The people of the developer, for their admin. */
export const membersPage = (): Child => [
  head({ title: 'People', about: 'The people of the developer who use console and API with a token of their own.' }),
  membersCard(),
];
