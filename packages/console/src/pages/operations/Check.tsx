import { CheckCircle2, XCircle } from "lucide-react"
import { UserText } from "../../ui/basics.tsx"

/** What is checked and how it is: icon, word and colour. */
export const Check = ({ ok, text }: { readonly ok: boolean; readonly text: string }) => (
  <span className={`inline-flex items-start gap-1.5 ${ok ? "text-good" : "text-bad"}`}>
    {ok ? (
      <CheckCircle2 size={14} aria-hidden className="mt-0.5 shrink-0" />
    ) : (
      <XCircle size={14} aria-hidden className="mt-0.5 shrink-0" />
    )}
    <UserText text={text} />
  </span>
)
