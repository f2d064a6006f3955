import { CheckCircle2, CircleHelp, XCircle } from "lucide-react"
import { UserText } from "../../ui/basics.tsx"
import { useHasNoDatabase, useIsOld } from "../../ui/kit.tsx"

/**
 * What is checked and how it is: icon, word and colour. A check whose data are old neither passes nor fails, and none
 * passes while the database is away. */
export const Check = ({ ok, text }: { readonly ok: boolean; readonly text: string }) => {
  const isAway = useHasNoDatabase()
  const old = useIsOld() || (ok && isAway)
  const Icon = old ? CircleHelp : ok ? CheckCircle2 : XCircle
  return (
    <span className={`inline-flex items-start gap-1.5 ${old ? "text-muted" : ok ? "text-good" : "text-bad"}`}>
      <Icon size={14} aria-hidden className="mt-0.5 shrink-0" />
      <UserText text={text} />
      {old ? " (earlier)" : ""}
    </span>
  )
}
