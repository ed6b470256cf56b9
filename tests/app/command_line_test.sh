#!/bin/sh
# What the program answers on the command line: sh command_line_test.sh PROGRAM DOCUMENTATION
set -eu
program=$1 documentation=$2
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

fail() {
  echo "$1" >&2
  exit 1
}

# expect STATUS PATTERN ARGUMENT...: the exit status, and something in what it prints
expect() {
  status=$1 pattern=$2
  shift 2
  actual=0
  "$program" "$@" >"$folder/output" 2>&1 || actual=$?
  cat "$folder/output"
  [ "$actual" -eq "$status" ] || fail "postino $*: exit status $actual instead of $status"
  grep -q -e "$pattern" "$folder/output" || fail "postino $*: no '$pattern'"
}

expect 0 '^postino [0-9]' --version
expect 0 'tour' --help
expect 2 'tour'
expect 2 'nothing' nothing

# Installed where it is told to be.
make -s -C "$documentation/.." install DESTDIR="$folder/stage" PREFIX=/usr
"$folder/stage/usr/bin/postino" --version | grep -q '^postino [0-9]' || fail 'make install does not put the program there'

expect 2 'nothing' tour --nothing
expect 2 'did you mean send?' sned
expect 2 'did you mean --threads?' serve --thread 4
expect 2 'did you mean --from?' send --form a@b.example

# The tour in a place of its own, twice in the same one, and in one that cannot be.
expect 0 'docs/architecture.md' tour
expect 0 'ConditionalCheckFailedException' tour --data "$folder/data"
expect 0 'TransactionCanceledException' tour --data "$folder/data"
expect 0 'REMOVE .*SENT' tour --data "$folder/data"
expect 1 'postino: ' tour --data "$folder/missing/data"

# Settings: shown, refused with the rule, and all of them documented.
expect 0 'address = "127.0.0.1:8000"' config
expect 0 'region = "eu-west-1"' config --region eu-west-1
expect 0 'shutdown_grace = "20s"' config --shutdown-grace 20
expect 2 '--several-servers has no effect without --ledger mysql' serve --data "$folder/data" --several-servers
expect 2 '--sample has no effect with --no-outbox' config --no-outbox --sample
expect 2 '--trusted-proxy 10.0.0.9 has no effect with --dynamodb 127.0.0.1:8000 and --http' config --trusted-proxy 10.0.0.9
expect 2 "--threads: must be a whole number from 0 to 1024" config --threads many
expect 2 "^postino: --region: must be" config --threads many --region X
expect 2 "^postino: --threads: must be" config --threads many --region X
# Also what contradicts another setting, unless that one was refused itself.
expect 2 '^postino: --threads: must be' config --threads many --sample --smtp mx.example:25 --several-servers
expect 2 '^postino: --sample cannot be given together with --smtp' config --threads many --sample --smtp mx.example:25
expect 2 '^postino: --several-servers has no effect' serve --data "$folder/data" --threads many --several-servers
expect 2 '^postino: --access-key: ' config --dynamodb 0.0.0.0:8000 --access-key malformed
! grep -q 'requests must be signed' "$folder/output" || fail 'a refused key counts as not given'
printf '[server]\nthreads = "many"\n[outbox]\nsample = true\n' >"$folder/both.toml"
expect 2 'both.toml:2: server.threads: must be' config --config "$folder/both.toml" --smtp mx.example:25
expect 2 '^postino: --sample cannot be given' config --config "$folder/both.toml" --smtp mx.example:25

# A start that fails leaves nothing behind.
expect 1 'no connection to' serve --data "$folder/new" --spool "$folder/made/spool" --ledger mysql --mysql-port 1
[ ! -e "$folder/new" ] && [ ! -e "$folder/made" ] || fail 'a start that failed has left something behind'
expect 1 'postino: ' serve --data "$folder/new" --spool "$folder/made/spool" --attachments "$folder/nothing"
[ ! -e "$folder/new" ] && [ ! -e "$folder/made" ] || fail 'a start that failed has left something behind'
mkdir "$folder/empty"
expect 1 'no connection to' serve --data "$folder/empty" --ledger mysql --mysql-port 1
[ -d "$folder/empty" ] && [ -z "$(ls -A "$folder/empty")" ] || fail 'an empty directory is not empty any more'

printf 'regoin = "x"\n[smtp]\nrelay = "y"\n' >"$folder/wrong.toml"
expect 2 'wrong.toml:1: regoin: unknown setting; did you mean region?' config --config "$folder/wrong.toml"
expect 2 'wrong.toml:3: smtp.relay: unknown setting; did you mean smtp.relays?' config --config "$folder/wrong.toml"
export POSTINO_SMPT=mx.example:25
expect 0 'warning: POSTINO_SMPT is no setting; did you mean POSTINO_SMTP?' config
unset POSTINO_SMPT
expect 2 "^postino: --dkim-key: cannot read the DKIM key" config --dkim-domain a.example --dkim-selector s --dkim-key nothing.pem
expect 2 'has <redacted>, which is shown in place of a secret' serve --access-key 'id:<redacted>'
expect 2 'must have the secret itself' serve --access-key id:...
expect 0 '127.0.0.1:8080)' serve --help
expect 0 '(default: ' serve --help
expect 2 "there is no configuration file 'nothing.toml'" serve --config nothing.toml
expect 1 'must be signed' serve --data "$folder/data" --dynamodb 0.0.0.0:0
expect 1 'missing' serve --data "$folder/missing/data" --dynamodb 127.0.0.1:0
for flag in $("$program" serve --help | grep -oE '^ +--[a-z-]+' | grep -v config); do
  grep -q -e "\`$flag\`" "$documentation/configuration.md" || fail "docs/configuration.md does not have $flag"
done

# A port that is taken, by the flag that names it.
python3 - "$program" "$folder/data" <<'END' || fail 'a port that is taken is not named by its flag'
import socket, subprocess, sys
with socket.create_server(("127.0.0.1", 0)) as taken:
    address = "127.0.0.1:%d" % taken.getsockname()[1]
    command = [sys.argv[1], "serve", "--data", sys.argv[2], "--dynamodb", "127.0.0.1:0", "--http", address]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=120)
print(ended.stderr)
sys.exit(ended.returncode != 1 or f"postino: --http: cannot listen on {address}: " not in ended.stderr)
END

# Clients: misuse, no server, and every flag documented.
export POSTINO_URL=http://127.0.0.1:1
expect 2 'one of --text, --text-file, --html and --html-file is required' send --from a@b.example --to c@d.example --subject s
expect 2 '--file and --to cannot be used together' send --file x --to c@d.example
expect 2 '--timeout: ' send --from a@b.example --to c@d.example --subject s --text t --timeout soon
expect 2 'See postino emails --help' emails
expect 2 'See postino emails show --help' emails show
expect 2 '--url nothing: ' mailbox --url nothing
expect 1 'cannot read nothing.json: ' send --file nothing.json
expect 1 'cannot reach http://127.0.0.1:1: connection refused. Is it running? Start it with: postino serve$' \
  emails show 1
expect 1 'Is it running' send --from a@b.example --to c@d.example --subject s --text t
expect 1 'Is it running' emails cancel 1 2
expect 1 'Is it running' mailbox
expect 1 'Is it running' suppressions add a@b.example
expect 1 'cannot read nothing.eml: ' bounces submit nothing.eml
expect 2 'one of --body and --file is required' messages produce --queue q
expect 2 '--queue is required' messages consume
expect 2 '--wait: ' messages consume --queue q --wait soon
expect 1 'cannot read nothing.json: ' messages produce --queue q --file nothing.json
expect 1 'Is it running' messages produce --queue q --body x
expect 1 'Is it running' messages depth q
expect 1 'Is it running' messages test
# Capacity is planned without a server; its traffic is not.
expect 0 '^Cheaper: provisioned, by 11.33 a month' capacity --item-bytes 3072 --strong-reads 100 --writes 20 \
  --storage-gb 50 --hours-per-day 12
expect 2 '--item-bytes: is required' capacity
expect 2 '--index: must be FIELD=VALUE' capacity --item-bytes 1 --index ALL
expect 2 '--prices has no effect with --server' capacity --item-bytes 1 --prices x --server
expect 1 'cannot read nothing.json: ' capacity --item-bytes 1 --prices nothing.json
expect 2 '--prices: cannot read nothing.json: ' config --prices nothing.json
expect 2 '--no-watch has no effect with --no-outbox' config --no-outbox --no-watch
expect 1 'Is it running' capacity --observe
expect 1 'Is it running' capacity --item-bytes 1 --server
for command in send "emails list" "emails invalid" "emails stale" "emails show" "emails retry" "emails cancel" \
  "emails counts" "callbacks list" "callbacks replay" "suppressions list" "suppressions add" "bounces submit" mailbox "mailbox show" "mailbox clear" \
  "messages produce" "messages consume" "messages depth" "messages test"; do
  for flag in $("$program" $command --help | grep -oE '^ +--[a-z-]+'); do
    grep -q -e "\`$flag\`" "$documentation/command-line.md" || fail "docs/command-line.md does not have $flag of $command"
  done
done

# The tables of the services: what is missing, made once, and as texts for other tools.
expect 2 'create table email-outbox$' tables plan --data "$folder/tables"
[ ! -e "$folder/tables" ] || fail 'a plan has made a data directory'
expect 0 'changes made' tables apply --data "$folder/tables"
expect 0 'nothing to do' tables apply --data "$folder/tables"
expect 0 'nothing to do' tables plan --data "$folder/tables"
expect 2 'create table other$' tables plan --data "$folder/tables" --outbox-table other
expect 2 '"changes":\["create table other"' tables plan --data "$folder/tables" --outbox-table other --json
expect 2 '--format' tables export --format xml
expect 2 '--with-apply is for --format iam' tables export --with-apply
expect 0 'account 123456789012, which is made up' tables export --format iam --region eu-west-1
expect 0 'region us-east-1: if that is another' tables export --format iam --account 111122223333
expect 0 'characters, and IAM takes 6,144' tables export --format iam --with-apply
expect 0 'table/email-outbox"' tables export --format iam --store dynamodb --store-region eu-west-1 --store-key-id AKIA \
  --objects-bucket attachments --objects-endpoint https://s3.eu-west-1.amazonaws.com --objects-region eu-west-1 --objects-key-id AKIA
expect 2 'POSTINO_STORE_SECRET' tables plan --store dynamodb --store-region eu-west-1 --store-key-id AKIA --no-tickets
expect 2 '--store dynamodb needs --store-region or --store-endpoint' tables plan --store dynamodb --no-tickets
for format in cloudformation terraform iam; do
  "$program" tables export --format $format --sealing-key "$folder/sealing.key" >"$folder/$format"
  for table in email-outbox-spool messages EmailTrackingTable-audit prod-tickets-unified prod-metrics postino-audit \
    postino-keys; do
    grep -q -e "$table\"" "$folder/$format" || fail "the export for $format does not have $table"
  done
done
python3 - "$folder" <<'END' || fail 'an export is not well formed'
import json, re, sys
folder = sys.argv[1]
policy = json.load(open(f"{folder}/iam"))
assert all(each["Effect"] == "Allow" and each["Action"] and each["Resource"] for each in policy["Statement"])
allowed = {arn.split("/")[1] for each in policy["Statement"] for arn in each["Resource"]}
template = set(re.findall(r'^      TableName: "(.*)"$', open(f"{folder}/cloudformation").read(), re.M))
terraform = set(re.findall(r'^  name = "(.*)"$', open(f"{folder}/terraform").read(), re.M))
assert len(allowed) == 15 and template == terraform == allowed, (template, terraform, allowed)
END

printf '[store]\nkind = "dynamodb"\nregion = "eu-west-1"\n[tickets]\noff = true\n' >"$folder/remote.toml"
expect 2 'for the embedded store' check --config "$folder/remote.toml"
expect 2 "'store' is the embedded store" copy --from store --to mysql --config "$folder/remote.toml"

# What works on the data itself: its own flags here, the settings where those are.
expect 2 '--from is required' copy --to mysql
expect 2 'must be different' copy --from store --to store
expect 2 'must be different' copy --from store --to embedded
expect 2 'must be different' copy --from dynamodb --to dynamodb
expect 2 '--from' copy --from somewhere --to mysql
expect 1 'there is no store' copy --from embedded --to mysql --data "$folder/nothing"
expect 2 '--store-region' copy --from embedded --to dynamodb --no-tickets --data "$folder/nothing"
expect 2 '--objects' copy --from embedded --to dynamodb --store-region eu-west-1 --data "$folder/nothing"
expect 2 'must be given together' migrate --mysql-key key.pem
expect 1 'database: ' migrate --mysql-socket "$folder/nothing"
expect 1 'database: ' serve --data "$folder/data" --dynamodb 127.0.0.1:0 --ledger mysql --mysql-socket "$folder/nothing"
for command in migrate copy "tables plan" "tables apply" "tables export"; do
  for flag in $("$program" $command --help | grep -oE '^ +--[a-z-]+'); do
    grep -q -e "\`$flag\`" "$documentation/command-line.md" "$documentation/configuration.md" ||
      fail "neither docs/command-line.md nor docs/configuration.md has $flag of $command"
  done
done
