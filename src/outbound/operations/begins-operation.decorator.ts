// Declares the responses of a handler that begins an operation, for the API reference.
import { CallsBank, Responds } from '../../platform/http/responses.decorator.js';
import { operationHeader } from './operation.js';
import { pendingItemsView, pendingView } from './operations.schema.js';

const ofOne = { name: 'PendingOperation', schema: pendingView };
const ofItems = { name: 'PendingItems', schema: pendingItemsView };

const ofOperation = { [operationHeader]: 'The id of the operation.' };

const succeeded = {
  status: 200,
  description: 'The bank’s response.',
  headers: ofOperation,
};

const accepted = {
  status: 202,
  description:
    'The request is stored, and the bank has not responded yet. Its id resolves where the id of ' +
    'the final resource would. An event reports the end.',
  headers: { Location: 'Where the operation is read.', ...ofOperation },
};

const conflicting = {
  status: 409,
  description:
    '`possible_duplicate`: another operation may be the same request; Location names it, and ' +
    'Concilia-Allow-Duplicate: true sends this one anyway. Other codes: the request conflicts ' +
    'with the present state, here or at the bank.',
  headers: { Location: 'The other operation, of a possible duplicate.', ...ofOperation },
};

const reused = {
  status: 422,
  description:
    '`idempotency_key_reused`: the key belongs to another request. Other codes: the request ' +
    'breaks a rule, here or at the bank.',
  headers: { Location: 'The operation that holds the bill, of a bill payment.', ...ofOperation },
};

/** Also answers of the bank to what was sent. */
const refused = [
  {
    status: 400,
    description: 'The request is malformed, here or at the bank; `errors` has the messages.',
    headers: ofOperation,
  },
  {
    status: 404,
    description: 'The bank, or the account, has no such resource.',
    headers: ofOperation,
  },
];

/** The handler replies with the bank's response, or with 202 and the operation. */
export function BeginsOperation({ hasItems = false } = {}): MethodDecorator {
  return (target, property, descriptor) => {
    CallsBank()(target, property, descriptor);
    const body = hasItems ? ofItems : ofOne;
    Responds(
      succeeded,
      { ...accepted, body },
      ...refused,
      conflicting,
      reused,
    )(target, property, descriptor);
  };
}
