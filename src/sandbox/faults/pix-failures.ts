// The codes with which a Pix fails: external status reasons of ISO 20022 as the SPI uses them, and
// one of the bank's own. Each can be had by a fault, and by sending to the account of that number.

/** Why a Pix failed. */
export type PixFailure = { code: PixFailureCode; description: string };

const descriptions = {
  AB03: 'A liquidação excedeu o tempo no SPI.',
  AB09: 'Houve um erro na instituição do recebedor.',
  AB11: 'A instituição do pagador excedeu o tempo.',
  AC03: 'A agência ou a conta do recebedor não existe.',
  AC06: 'A conta do recebedor está bloqueada.',
  AC07: 'A conta do recebedor está encerrada.',
  AC14: 'O tipo da conta do recebedor está errado.',
  AG03: 'A conta do recebedor não aceita este tipo de pagamento.',
  AG12: 'A instituição não aceita este processamento.',
  AG13: 'Uma devolução não pode ser devolvida.',
  AGNT: 'O participante não liquida pelo pagador.',
  AM01: 'O valor é zero.',
  AM02: 'O valor excede o limite do tipo de conta do recebedor.',
  AM04: 'A instituição do pagador não tem saldo no SPI.',
  AM09: 'A devolução excede o valor do Pix original.',
  AM12: 'As partes não somam o valor do pagamento.',
  AM18: 'A quantidade de pagamentos está errada.',
  BE01: 'O CPF ou CNPJ não é do titular da conta.',
  BE05: 'Quem iniciou o pagamento não está autorizado.',
  BE17: 'O recebedor recusou o QR Code.',
  CH11: 'O CPF ou CNPJ do recebedor está incorreto.',
  CH16: 'O conteúdo da mensagem é inconsistente.',
  DEL20: 'Pix original ainda não foi processado.',
  DS04: 'A instituição do recebedor recusou o pagamento.',
  DS0G: 'Quem assinou não está autorizado.',
  DS27: 'O participante não está cadastrado ou não opera.',
  DT02: 'A data e a hora são inválidas.',
  DT05: 'O prazo da devolução acabou.',
  ED05: 'O processamento do pagamento falhou.',
  RC09: 'O ISPB do pagador está errado.',
  RC10: 'O ISPB do recebedor está errado.',
  RR04: 'O pagamento foi recusado por norma.',
  SL02: 'O serviço de iniciação não é permitido.',
} as const;

export type PixFailureCode = keyof typeof descriptions;

export const pixFailureCodes = Object.keys(descriptions) as PixFailureCode[];

export function pixFailure(code: PixFailureCode): PixFailure {
  return { code, description: descriptions[code] };
}

/** The failure of a Pix to the account whose number is a code; null for any other account. */
export function failureOfAccount(number: string): PixFailure | null {
  const code = pixFailureCodes.find((one) => one === number.toUpperCase());
  return code ? pixFailure(code) : null;
}
