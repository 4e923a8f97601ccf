# by-build-id.sh DEBUG-FILE DIR: puts it into DIR/.build-id/, under its build ID.
id=$(readelf -n "$1" | sed -n 's/.*Build ID: //p')
rest=${id#??}
mkdir -p "$2/.build-id/${id%$rest}"
cp "$1" "$2/.build-id/${id%$rest}/$rest.debug"
