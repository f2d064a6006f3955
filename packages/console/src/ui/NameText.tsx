import { nameParts } from "../view/format/NameCut.ts"
import { UserText } from "./basics.tsx"

/** A name in one line. An ellipsis replaces the middle of a name that is too wide. */
export const NameText = ({ className = "", text }: { readonly text: string; readonly className?: string }) => {
  const [start, end] = nameParts(text)
  if (end === "") return <UserText text={text} className={`truncate ${className}`} />
  return (
    <span className={`flex min-w-0 ${className}`} title={text}>
      <UserText text={start} className="min-w-0 truncate" />
      <UserText text={end} className="shrink-0 whitespace-pre" />
    </span>
  )
}
