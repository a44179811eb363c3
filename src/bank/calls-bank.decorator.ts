// Declares the responses of a handler that waits for the bank, for the API reference.
import { Responds } from '../platform/responses.decorator.js';

/** The handler passes on the bank's refusals, or responds that the bank did not answer. */
export function CallsBank(): MethodDecorator {
  return Responds(
    { status: 404, description: 'The bank, or the account, has no such resource.' },
    { status: 409, description: 'The bank refuses the request in the present state; see `code`.' },
    { status: 422, description: 'The bank refuses the request by a rule; see `code`.' },
    { status: 502, description: 'The bank could not be reached. Nothing was done.' },
    { status: 504, description: 'The bank did not respond in time.' },
  );
}
