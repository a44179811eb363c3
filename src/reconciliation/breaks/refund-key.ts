// The key under which the money of a break goes back: made of the break, so that a person, a policy and a repeat of either
// ask for one refund.
import { v5 as uuidv5 } from 'uuid';

const namespace = '0d4f3c1e-6f0b-5c57-9c0a-52b1a1b6e6d1';

/** `ended`: how many refunds of the break the bank has refused, were proven not to have been made, or came back. */
export function refundKeyOf(breakId: string, ended: number): string {
  return uuidv5(ended === 0 ? breakId : `${breakId} ${ended}`, namespace);
}
