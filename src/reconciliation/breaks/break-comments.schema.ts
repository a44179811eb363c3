// The API of comments on a break.
import { z } from 'zod';
import { route } from '../../bank-contract/route.js';
import { filledText, instant, text, nameSchemas } from '../../bank-contract/wire.js';
import { listOf, listQuery } from '../../platform/http/listing.js';

const base = {
  chapter: 'Breaks',
  authentication: 'api-key',
  path: '/v1/breaks/{id}/comments',
} as const;
const params = z.object({ id: text(100) });
export const maxCommentLength = 2_000;

export const commentView = z.object({
  id: z.string(),
  author: z.string().describe("An API key's id, or `person:` and the id of a person."),
  text: z.string().nullable().describe('Null without the scope `personal-data`, or once erased.'),
  at: instant,
});

export const listBreakComments = route({
  ...base,
  method: 'GET',
  name: 'listBreakComments',
  summary: 'Lists the comments on a break, newest first.',
  params,
  query: listQuery({}),
  response: listOf(commentView),
});

export const commentOnBreak = route({
  ...base,
  method: 'POST',
  name: 'commentOnBreak',
  summary:
    'Adds a comment to a break. It changes neither the break nor its history, and no refund ' +
    'policy acts on the break afterwards.',
  idempotencyKey: 'accepted',
  successStatus: 201,
  params,
  body: z.strictObject({ text: filledText(maxCommentLength) }),
  response: commentView,
});

nameSchemas({ BreakComment: commentView });
