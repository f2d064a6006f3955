import { type ReceiptReport, receiptText } from "@runplane/domain"
import { FileCheck2, FileWarning } from "lucide-react"
import { Id, UserText } from "../../../ui/basics.tsx"

interface DecisionProofProps {
  readonly commitmentHash?: string | undefined
  readonly receipt?: ReceiptReport | undefined
}

/** The hash of the commitment and the check of the runtime's receipt; nothing for a decision with neither. */
export const DecisionProof = ({ commitmentHash, receipt }: DecisionProofProps) => {
  if (commitmentHash === undefined && receipt === undefined) return null
  return (
    <dl className="mt-1 flex w-full flex-col gap-1 text-muted">
      {commitmentHash === undefined ? null : (
        <div className="flex items-center gap-2">
          <dt>Commitment</dt>
          <dd className="min-w-0">
            <Id id={commitmentHash} edge={13} label="commitment hash" />
          </dd>
        </div>
      )}
      {receipt === undefined ? null : (
        <div className={`flex items-start gap-2 ${receipt.verified ? "" : "text-bad"}`} data-receipt={verdict(receipt)}>
          <dt className="flex shrink-0 items-center gap-1.5">
            {receipt.verified ? <FileCheck2 size={14} aria-hidden /> : <FileWarning size={14} aria-hidden />}
            Receipt
          </dt>
          <dd className="min-w-0">
            <UserText text={receiptText(receipt)} />
          </dd>
        </div>
      )}
    </dl>
  )
}

const verdict = ({ signed, verified }: ReceiptReport) => (verified ? (signed ? "signed" : "unsigned") : "unverified")
