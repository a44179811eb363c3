// A randomized test has a short form in `npm test` and a long form in `npm run test:full`.

/** Whether this is the long form. */
export const isLongForm = process.env.CONCILIA_TESTS === 'full';
