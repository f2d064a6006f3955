import { UserRound } from "lucide-react"
import { UserText } from "../ui/basics.tsx"
import { useMe } from "../ui/useMe.ts"

/** The signed-in user with its role. */
export default function Who() {
  const me = useMe()
  if (me === undefined) return null
  return (
    <p data-me className="flex items-center gap-2 px-2 py-1.5 text-[12px] text-soft" title={`${me.name}, ${me.role}`}>
      <UserRound size={15} aria-hidden className="shrink-0" />
      <UserText text={me.name} className="truncate font-medium" /> {me.role}
    </p>
  )
}
