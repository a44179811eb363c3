/** Why a Pix goes back: the codes of the BACEN's API, nature ORIGINAL and MED_FRAUDE. */
export interface RefundReason {
  code: 'MD06' | 'FR01';
  text: string;
}

export const requestedByReceiver: RefundReason = {
  code: 'MD06',
  text: 'Devolução solicitada pelo usuário recebedor',
};

/** The bank takes it back by the Mecanismo Especial de Devolução. */
export function medReason(text: string | null): RefundReason {
  return { code: 'FR01', text: text ?? 'Mecanismo Especial de Devolução: suspeita de fraude' };
}
