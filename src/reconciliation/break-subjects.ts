// What a break is about, in the one spelling by which it is opened once and found again.

export function subjectOfLine(nsu: bigint): string {
  return `nsu:${nsu}`;
}

export function subjectOfExpected(expectedPaymentId: string): string {
  return `expected_payment:${expectedPaymentId}`;
}

/** A line of a day that had its certificate. */
export function subjectOfLate(date: string, nsu: bigint): string {
  return `day:${date}/${nsu}`;
}
