/**
 * A catalogue, in which names of packages are unique: `software` has the packages of developers and of the system,
 * `firmware` has firmware. In the database, the column `line` stores it.
 */
export type Catalogue = 'software' | 'firmware';
